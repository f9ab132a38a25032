package pulse

import (
	"fmt"
	"math"
	"time"
)

const (
	evenShare   = 0.10                   // by which the token rates of the two halves of a steady time may differ
	evenEvents  = 100                    // token events in both halves together, below which they say nothing
	evenHalf    = 500 * time.Millisecond // shorter halves show the client's scheduler as much as the engine
	perSecondUS = 1e6
)

// Beat is how far a cell had come at an instant.
type Beat struct {
	AtUS     int64
	Events   int64 // token events of all streams
	StreamUS int64 // time of all streams together, without what lies between two requests of one
}

// Pulse follows the token rate of a cell's streams over the last while.
type Pulse struct {
	Over  time.Duration // the while
	beats []Beat
}

// Feel takes the latest beat and forgets what lies further back than needed.
func (p *Pulse) Feel(b Beat) {
	p.beats = append(p.beats, b)
	for len(p.beats) > 1 && p.beats[1].AtUS <= b.AtUS-p.Over.Microseconds() {
		p.beats = p.beats[1:]
	}
}

// ago is the last beat that is as old as an age; false when there is none.
func (p *Pulse) ago(age time.Duration) (Beat, bool) {
	until := p.beats[len(p.beats)-1].AtUS - age.Microseconds()
	for i := len(p.beats) - 1; i >= 0; i-- {
		if p.beats[i].AtUS <= until {
			return p.beats[i], true
		}
	}
	return Beat{}, false
}

// Uneven says how the token rate of a stream changed from the first half of the while to the second one; "" where it did not, or where
// too little was seen to tell. Restarts do not count, as they go on in the window. What the streams get at one instant may fall on either side
// of the middle.
func (p *Pulse) Uneven() string {
	if p.Over/2 < evenHalf || len(p.beats) == 0 {
		return ""
	}
	last := p.beats[len(p.beats)-1]
	first, long := p.ago(p.Over)
	middle, _ := p.ago(p.Over / 2)
	if !long || last.Events-first.Events < evenEvents {
		return ""
	}
	before, after := middle.rate(first), last.rate(middle)
	oneEach := perSecondUS / float64(middle.AtUS-first.AtUS)
	if math.Abs(after-before) <= evenShare*before+oneEach {
		return ""
	}
	return fmt.Sprintf("a stream's token events went from %.4g to %.4g per second", before, after)
}

// rate is the token events per second of one stream since an earlier beat.
func (b Beat) rate(since Beat) float64 {
	if b.StreamUS <= since.StreamUS {
		return 0
	}
	return perSecondUS * float64(b.Events-since.Events) / float64(b.StreamUS-since.StreamUS)
}
