package cron

import (
	"strings"
	"time"

	robfig "github.com/robfig/cron/v3"

	"assay/fault"
)

// Schedule tells when something is due next.
type Schedule = robfig.Schedule

// Parse reads five cron fields or a descriptor such as @daily or @every 6h.
func Parse(spec string) (Schedule, error) {
	const hint = `write five fields such as "0 3 * * *", or @daily, @every 6h`
	if strings.Contains(spec, "TZ=") && !strings.Contains(spec, " ") { // the library panics at a time zone without fields
		return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: it names a time zone alone", spec)
	}
	s, err := robfig.ParseStandard(spec)
	if err != nil {
		return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: %w", spec, err)
	}
	if every, ok := strings.CutPrefix(spec, "@every "); ok {
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err != nil || d < time.Second {
			return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: the shortest time is a second", spec)
		}
	}
	if s.Next(time.Now()).IsZero() {
		return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: that time never comes", spec)
	}
	return s, nil
}
