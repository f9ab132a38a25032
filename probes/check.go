package probes

// CheckState is the outcome of a readiness rule.
type CheckState string

// The states of a check.
const (
	CheckOK      CheckState = "ok"
	CheckWarn    CheckState = "warn"
	CheckFail    CheckState = "fail"
	CheckUnknown CheckState = "unknown"
)

// Check is a readiness rule applied to a SUT.
type Check struct {
	ID       string     `json:"id"`
	State    CheckState `json:"state"`
	Text     string     `json:"text"`
	Evidence []string   `json:"evidence"`
	Hint     string     `json:"hint,omitempty"` // what to do about it
}

// Wanted is what a plan asks of the checks by id: "required" (warn and unknown become fail), "ignore", or a value the rule compares with.
type Wanted map[string]any
