package check

import "assay/probes/sut"

// State is the outcome of a readiness rule.
type State string

// The states of a check.
const (
	OK      State = "ok"
	Warn    State = "warn"
	Fail    State = "fail"
	Unknown State = "unknown"
)

// Check is a readiness rule applied to a SUT.
type Check struct {
	ID       string   `json:"id"`
	State    State    `json:"state"`
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
	Hint     string   `json:"hint,omitempty"` // what to do about it
}

// Wanted is what a plan asks of the checks by id: "required" (warn and unknown become fail), "relaxed" (fail becomes warn), "ignore", a
// value the rule compares with, or a list of such a word and a value.
type Wanted map[string]any

// Request is what the checks are asked about: a machine, and what a plan wants of it.
type Request struct {
	SUT       sut.SUT
	Wanted    Wanted
	Image     *sut.Image // the plan's container image; nil when it names none
	ModelPath string     // the model's file or folder on the host with its links resolved, as a SUT writes paths; "" when there is no plan, or it names none
	ModelGone bool       // nothing is at ModelPath on this machine
	Ports     []int      // ports of the host that the plan's server is to listen on; a port that is chosen at the start is none

	PortHolder func(port int) string // names who listens on one; nil when that is not seen from here
}
