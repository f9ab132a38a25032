package paced

import (
	"fmt"
	"time"
)

// Config is the schedule. A request asks for its number of tokens itself (max_tokens).
type Config struct {
	TTFT   time.Duration // from the whole request to the first token at the earliest
	ITL    time.Duration // between two writes of a stream; 0: as fast as the reader takes them
	Groups int           // 0: each stream has a phase of its own; else so many groups, whose streams are written in one step
	Events int           // token events of a write
}

// Validate says what is wrong with a schedule.
func (c Config) Validate() error {
	switch {
	case c.TTFT < 0, c.ITL < 0:
		return fmt.Errorf("a time cannot be negative")
	case c.Groups < 0:
		return fmt.Errorf("there cannot be %d groups", c.Groups)
	case c.Events < 1 || c.Events > 1000:
		return fmt.Errorf("a write holds 1 to 1000 events, not %d", c.Events)
	}
	return nil
}

// first is when a request that came at an instant gets its first token. n is its number; spread shares phases out evenly.
func (c Config) first(arrivedNS int64, n uint64) int64 {
	due := arrivedNS + c.TTFT.Nanoseconds()
	step := c.ITL.Nanoseconds()
	if step == 0 {
		return due
	}
	if c.Groups == 0 {
		return due + spread(n, step)
	}
	phase := int64(n%uint64(c.Groups)) * step / int64(c.Groups)
	return due + (step-(due-phase)%step)%step
}

// spread gives each number its own place below limit: multiples of the golden ratio lie evenly, however many there are.
func spread(n uint64, limit int64) int64 {
	return int64((n * 0x9E3779B97F4A7C15 >> 32) * uint64(limit) >> 32)
}

// next is when a stream whose token was due at an instant gets the next one. A server that is late does not catch up, as an engine
// does not.
func (c Config) next(dueNS, nowNS int64) int64 {
	step := c.ITL.Nanoseconds()
	if step == 0 {
		return nowNS
	}
	due := dueNS + step
	if due >= nowNS {
		return due
	}
	if c.Groups > 0 {
		return due + ((nowNS-due)/step+1)*step // its group's next step
	}
	return nowNS + step/2
}
