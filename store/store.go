package store

import (
	"assay/fault"
	"assay/result"
)

// Run is one row of the list of runs.
type Run struct {
	ID         string
	Name       string
	State      result.State
	Verdict    string
	Error      *fault.Fault
	Plan       []byte // canonical JSON
	PlanSHA256 string
	Source     string // cli | api | schedule:<id>
	Key        string // idempotency key of the submission, "" when none
	CreatedUS  int64
	StartedUS  int64
	EndedUS    int64
	Points     int // points of the plan
	PointsDone int
	BestTPS    *float64 // highest System TPS of its points
	BestPoint  string
}

// Filter narrows a list of runs; newest first.
type Filter struct {
	State  result.State // "" for all
	Limit  int          // 0: 50
	Cursor string       // from the page before
}

// Schedule reruns a plan on cron.
type Schedule struct {
	ID        string
	Name      string
	Cron      string // five fields or @every 1h; local time
	Plan      []byte // canonical JSON
	Enabled   bool
	CreatedUS int64
	LastRun   string // id of the run it queued last
	LastUS    int64
}
