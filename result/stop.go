package result

import "assay/fault"

// How a server or router came to its end.
const (
	StopByItself = "by_itself" // before anybody asked
	StopGraceful = "graceful"  // asked, within its grace
	StopKilled   = "killed"    // asked, after its grace or because time was up
	StopStuck    = "stuck"     // asked, and it did not end even when killed, or its container engine did not answer
)

// Who asked a server or router to stop.
const (
	AskedAtEnd     = "end"         // the run was through
	AskedOnFailure = "failure"     // a phase of the run failed
	AskedOnCancel  = "cancel"      // a person canceled the run
	AskedOnSignal  = "interrupt"   // the program was told to stop
	AskedForNext   = "next_router" // the next point has another router
)

// Stop is the end of a server or router that the run had started.
type Stop struct {
	Role      string       `json:"role"` // server | router
	Name      string       `json:"name"` // of the container, or "pid 1234"
	How       string       `json:"how"`
	AskedBy   string       `json:"asked_by,omitempty"` // "" when nobody had to
	AskedUS   int64        `json:"asked_us,omitempty"`
	TookS     float64      `json:"took_s"`                 // from being asked to its end; 0 when it had ended before
	ExitCode  *int         `json:"exit_code,omitempty"`    // 128 + the signal that killed it; nil when it is not known
	Signal    string       `json:"signal,omitempty"`       // SIGTERM; that ended it
	OOMKilled bool         `json:"oom_killed"`             // the kernel killed it for want of memory
	Restarts  int          `json:"restarts"`               // by the container engine; a run asks for none
	Text      string       `json:"text"`                   // "exited with code 0"
	Engine    string       `json:"engine_error,omitempty"` // the container engine's own words
	Error     *fault.Fault `json:"error,omitempty"`        // why it could not be stopped
}
