package result

// Event is something that happened in a run: the live stream of the API and what a terminal follows.
type Event struct {
	Seq      int64     `json:"seq"`
	AtUS     int64     `json:"at_us"` // UTC
	Run      string    `json:"run"`
	Kind     string    `json:"kind"`
	Phase    string    `json:"phase,omitempty"`
	Point    string    `json:"point,omitempty"`
	Text     string    `json:"text,omitempty"`
	State    State     `json:"state,omitempty"`
	Verdict  string    `json:"verdict,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Result   *Point    `json:"result,omitempty"` // kind point.ended
}

// Kinds of events.
const (
	RunQueued    = "run.queued"
	RunStarted   = "run.started"
	RunEnded     = "run.ended" // State, Verdict, Text
	PhaseStarted = "phase.started"
	PhaseEnded   = "phase.ended" // Text holds the error, if any, and State what stopped the run, if that was it
	PointStarted = "point.started"
	PointEnded   = "point.ended"
	Progressed   = "progress"
	Stopped      = "stopped"      // a server or router ended; Text says how
	NodeMarked   = "node.marked"  // the machine takes no runs; Text says why
	NodeCleared  = "node.cleared" // a reason for that is gone
	Logged       = "log"          // a line of the server's or router's output, while it gets ready
)

// Live tells an event that is for those who look on now: it is not kept.
func (e Event) Live() bool { return e.Kind == Progressed || e.Kind == Logged }

// Progress is a live view of a long step.
type Progress struct {
	Stage    string  `json:"stage"` // hash | pull | ready | memory | calibrate | prompts | warmup | measure | cooldown | drain
	Done     float64 `json:"done"`  // in Unit
	Total    float64 `json:"total"` // 0 when not known
	Unit     string  `json:"unit"`  // bytes | s | requests; empty where nothing is counted
	InFlight int     `json:"in_flight,omitempty"`
	Failed   int     `json:"failed,omitempty"`
	TPS      float64 `json:"tps,omitempty"`
	TTFTMS   float64 `json:"ttft_ms,omitempty"`
}
