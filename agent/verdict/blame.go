package verdict

import "assay/result"

// Blame adds a reason to a point. A fatal one makes a valid point not valid; a point that is none for another cause stays what it is.
func Blame(p *result.Point, r result.Reason, fatal bool) {
	p.Reasons = append(p.Reasons, r)
	if fatal && p.State == result.PointValid {
		p.State = result.PointNotValid
	}
}
