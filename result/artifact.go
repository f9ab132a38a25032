package result

// Names in a run's folder.
const (
	FileName    = "result.json"     // this document
	ReportName  = "report.html"     // the report made from it
	ArchiveName = "archive.tar.zst" // the signed archive made from it and its artifacts
	EventsName  = "events.jsonl"    // what happened, for who follows the run; it goes on after the document is made
)

// Derived names the files of a run's folder that are no artifacts of the run: the document that lists those, what is made from it, and the event log.
func Derived() []string { return []string{FileName, ReportName, ArchiveName, EventsName} }

// Artifact is a file of the run's folder.
type Artifact struct {
	Path   string `json:"path"` // relative to the folder, with slashes
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}
