package result

// NodeState says whether a machine takes runs.
type NodeState string

// The states of a node.
const (
	NodeReady NodeState = "ready"
	NodeDirty NodeState = "dirty" // an accelerator still holds memory of a run that has ended
	NodeUnfit NodeState = "unfit" // an accelerator that the node had is gone, or answers no more
)

// Node is what a data directory knows of its machine from one run to the next.
type Node struct {
	State   NodeState `json:"state"`
	Marks   []Mark    `json:"marks"`              // why it is not ready
	Devices []Device  `json:"devices"`            // that it is known to have
	SeenUS  int64     `json:"seen_us,omitempty"`  // when it was looked at last
	BootKey string    `json:"boot_key,omitempty"` // equal for two looks within one boot
}

// Mark is one reason why a node takes no runs.
type Mark struct {
	State    NodeState `json:"state"` // dirty | unfit
	Code     string    `json:"code"`
	Device   string    `json:"device"` // PCI address
	Text     string    `json:"text"`
	Hint     string    `json:"hint"`
	Evidence string    `json:"evidence,omitempty"`
	SinceUS  int64     `json:"since_us"`      // first look that found it
	Run      string    `json:"run,omitempty"` // that left it, or found it
	Held     *Held     `json:"held,omitempty"`
}

// Codes of marks.
const (
	MarkMemoryHeld  = "memory_held"  // memory of an accelerator did not come back
	MarkProcessLeft = "process_left" // a program that came during the run still uses an accelerator
	MarkGPUMissing  = "gpu_missing"  // it is not on the bus any more
	MarkGPULost     = "gpu_lost"     // it is on the bus, and does not answer
	MarkGPUChanged  = "gpu_changed"  // another one is in its place
)

// Held is memory of an accelerator that did not come back.
type Held struct {
	BeforeBytes *int64   `json:"before_bytes,omitempty"` // in use before the server was started
	UsedBytes   *int64   `json:"used_bytes,omitempty"`   // at the last look
	Holders     []Holder `json:"holders"`                // programs that came since; empty when none is shown
}

// Holder is a program that uses an accelerator.
type Holder struct {
	PID   int    `json:"pid"`
	Name  string `json:"name"`
	Bytes *int64 `json:"bytes,omitempty"` // that it holds
}

// Device is an accelerator that a node has.
type Device struct {
	Address    string `json:"address"` // PCI
	Vendor     string `json:"vendor,omitempty"`
	Name       string `json:"name,omitempty"`
	SerialHash string `json:"serial_hash,omitempty"`
	VRAMBytes  int64  `json:"vram_bytes,omitempty"` // 0 when it is not known
	SeenUS     int64  `json:"seen_us"`              // when it answered last
}

// Release is how the memory of the accelerators came back after the servers were stopped.
type Release struct {
	WaitedS float64          `json:"waited_s"`
	Devices []ReleasedDevice `json:"devices"`
	Marks   []Mark           `json:"marks,omitempty"` // what had not come back when the wait ended
}

// ReleasedDevice is the memory in use of one accelerator; nil where its driver does not tell.
type ReleasedDevice struct {
	Device      string `json:"device"` // PCI address
	BeforeBytes *int64 `json:"before_bytes,omitempty"`
	AfterBytes  *int64 `json:"after_bytes,omitempty"`
}
