package stream

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

// Vitals counts what a load's connections do, cheaply enough for the path of each read. The clients of a load share one.
type Vitals struct {
	opened, reused, open, most, made atomic.Int64
	shards                           []shard
}

// NewVitals makes counts of zero.
func NewVitals() *Vitals { return &Vitals{shards: make([]shard, max(1, runtime.GOMAXPROCS(0)))} }

// shard is counted in by some of the exchanges, so that processors do not take turns at one line of memory.
type shard struct {
	bytes  atomic.Int64
	reads  atomic.Int64
	delays [delayBuckets]atomic.Int64
}

// shard gives exchanges their shards in turn.
func (v *Vitals) shard() *shard {
	return &v.shards[int(v.made.Add(1))%len(v.shards)]
}

// read counts a read of n bytes that was made delayUS after they had arrived; below 0 when that is not known.
func (s *shard) read(n int, delayUS int64) {
	s.bytes.Add(int64(n))
	s.reads.Add(1)
	s.delayed(delayUS)
}

func (s *shard) delayed(us int64) {
	if us >= 0 {
		s.delays[delayBucket(us)].Add(1)
	}
}

// connected counts an opened connection, closed one that was closed.
func (v *Vitals) connected() {
	v.opened.Add(1)
	now := v.open.Add(1)
	for most := v.most.Load(); now > most && !v.most.CompareAndSwap(most, now); most = v.most.Load() {
	}
}

func (v *Vitals) closed() { v.open.Add(-1) }

// Counts are what Vitals counted until an instant.
type Counts struct {
	Opened, Reused, AtOnce int64 // connections; AtOnce is the most that were open together
	Reads, Bytes           int64
	Delays                 [delayBuckets]int64 // reads by how long after the bytes' arrival they were made
}

// Now gives the counts so far.
func (v *Vitals) Now() Counts {
	c := Counts{Opened: v.opened.Load(), Reused: v.reused.Load(), AtOnce: v.most.Load()}
	for i := range v.shards {
		s := &v.shards[i]
		c.Reads += s.reads.Load()
		c.Bytes += s.bytes.Load()
		for b := range s.delays {
			c.Delays[b] += s.delays[b].Load()
		}
	}
	return c
}

// delayBuckets holds microseconds up to 67 s: one each up to 16, then eight to the doubling.
const delayBuckets = 200

func delayBucket(us int64) int {
	if us < 16 {
		return int(us)
	}
	shift := bits.Len64(uint64(us)) - 4
	return min(8*shift+int(us>>shift), delayBuckets-1)
}

// DelayUS is the longest delay, in microseconds, that bucket i of Counts.Delays holds.
func DelayUS(i int) float64 {
	if i < 16 {
		return float64(i)
	}
	shift := i/8 - 1
	return float64(int64(i-8*shift+1)<<shift - 1)
}
