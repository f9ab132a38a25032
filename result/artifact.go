package result

// Names in a run's folder.
const (
	FileName    = "result.json"     // this document
	ReportName  = "report.html"     // the report made from it
	ArchiveName = "archive.tar.zst" // the signed archive made from it and its artifacts
)

// Derived names the files of a run's folder that are no artifacts of the run: the document that lists those, and what is made from it.
func Derived() []string { return []string{FileName, ReportName, ArchiveName} }

// Artifact is a file of the run's folder.
type Artifact struct {
	Path   string `json:"path"` // relative to the folder, with slashes
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}
