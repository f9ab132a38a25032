package ceiling

import (
	"fmt"
	"time"
)

// Point is one setting: so many streams at once, and the events per second that all of them are sent together.
type Point struct {
	Streams int     `json:"streams"`
	Rate    float64 `json:"asked_per_s"` // 0: as many as come
}

func (p Point) String() string {
	if p.Rate == 0 {
		return fmt.Sprintf("%d streams, as fast as they come", p.Streams)
	}
	return fmt.Sprintf("%d streams, %.0f events/s", p.Streams, p.Rate)
}

// Ladder is the points that are measured when none are asked for: from one stream to the load of a large node. The last one has no
// schedule and shows how much the client takes at most, many events a read.
func Ladder() []Point {
	return []Point{{1, 50}, {32, 2300}, {512, 5500}, {2048, 20_000}, {10_800, 33_000}, {10_800, 66_000}, {64, 0}}
}

const (
	meanTokens   = 50
	leastTokens  = meanTokens / 2
	fullWrite    = 16 // events of a write at a point without a schedule
	fastTokens   = 4000
	promptTokens = 32
)

// itl is the gap between the tokens of a stream that makes the rate.
func (p Point) itl() time.Duration {
	if p.Rate == 0 {
		return 0
	}
	return time.Duration(float64(p.Streams) / p.Rate * 1e9)
}

// ttft is half a gap; the server adds half a gap on the average, so that a request of n tokens takes n gaps.
func (p Point) ttft() time.Duration { return p.itl() / 2 }

// settle is until every stream has had twenty tokens, with time to spare for thousands of first requests at one instant. Over loopback a
// receiver does not pay for acknowledging the first sixteen: the kernel sends those at once, in the sender's time.
func (p Point) settle() time.Duration {
	return time.Second + 20*p.itl() + time.Duration(p.Streams)*100*time.Microsecond
}

// tokens is the mean length of a reply.
func (p Point) tokens() int {
	if p.Rate == 0 {
		return fastTokens
	}
	return meanTokens
}

// events is how many events a write of the server brings.
func (p Point) events() int {
	if p.Rate == 0 {
		return fullWrite
	}
	return 1
}
