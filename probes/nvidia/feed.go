package nvidia

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// pace is how a program that goes on reporting is treated.
type pace struct {
	every   time.Duration // between two of its reports
	silence time.Duration // after which it hangs and is ended; starting it takes seconds where the driver has to start first
	between time.Duration // the same once it has reported
	pause   time.Duration // before it is started anew; twice as long after each start that gave nothing, up to silence
}

func defaultPace() pace {
	return pace{every: time.Second, silence: 30 * time.Second, between: 5 * time.Second, pause: time.Second}
}

// maxKept bounds the samples that nobody takes: an hour of eight GPUs.
const maxKept = 600_000

// feed keeps a program running that reports samples, and holds them until they are taken.
type feed struct {
	host    host.Host
	numbers numbers
	pace    pace
	stop    context.CancelFunc
	ended   chan struct{} // closed when the program is gone for good
	news    chan struct{} // has something when samples came in, or the program ended

	mu      sync.Mutex
	samples []sut.Sample
	trouble error     // why the program ended; told once
	heard   time.Time // when it reported last, at first when it was started
}

func startFeed(ctx context.Context, h host.Host, n numbers) *feed {
	return startPaced(ctx, h, n, defaultPace())
}

func startPaced(ctx context.Context, h host.Host, n numbers, p pace) *feed {
	f := &feed{host: h, numbers: n, pace: p, ended: make(chan struct{}), news: make(chan struct{}, 1), heard: time.Now()}
	ctx, f.stop = context.WithCancel(ctx)
	go f.run(ctx)
	return f
}

// run starts the program again and again until the feed is stopped. What it reports is learnt anew each time: the driver may be another.
func (f *feed) run(ctx context.Context) {
	defer close(f.ended)
	pause := f.pace.pause
	for ctx.Err() == nil {
		r := reader{feed: f}
		err := follow(ctx, r.limit, r.line, "nvidia-smi", "--query-gpu="+fieldList(askFields(ctx, f.host, wantedSamples(), coreSamples())), "--format=csv,nounits", "-lms", milliseconds(f.pace.every))
		if ctx.Err() != nil {
			return
		}
		f.fail(err)
		if errors.Is(err, errHeld) {
			return // the next one would be held, too
		}
		if pause = min(2*pause, f.pace.silence); r.rows > 0 {
			pause = f.pace.pause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// take gives the samples since the last time, and why the program ended if it did.
func (f *feed) take() ([]sut.Sample, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	samples, err := f.samples, f.trouble
	f.samples, f.trouble = nil, nil
	return samples, err
}

func (f *feed) fail(err error) {
	f.mu.Lock()
	f.trouble = err
	f.mu.Unlock()
	f.tell()
}

// silent is what is wrong with a program as it is let go: it ended, or would soon have been ended, for it reports no more.
func (f *feed) silent() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if since := time.Since(f.heard); f.trouble == nil && since > 3*f.pace.every {
		return fmt.Errorf("nvidia-smi reported nothing in the last %s", since.Round(time.Second))
	}
	return f.trouble
}

func (f *feed) keep(samples []sut.Sample) {
	f.mu.Lock()
	f.heard = time.Now()
	if len(f.samples) < maxKept {
		f.samples = append(f.samples, samples...)
	}
	f.mu.Unlock()
	f.tell()
}

// tell wakes whoever waits for news.
func (f *feed) tell() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// reader reads the lines of one program: a header, then a row for each GPU, again and again.
type reader struct {
	feed   *feed
	header table
	seen   map[string]bool // GPUs of the report that is being read
	held   map[string]held // of each GPU, at its row before
	atUS   int64           // when it began
	rows   int
	other  int // lines that were neither
}

// limit is how long the program may print nothing from now on.
func (r *reader) limit() time.Duration {
	if r.rows == 0 {
		return r.feed.pace.silence
	}
	return r.feed.pace.between
}

// maxOther is how many lines may be no report before the program is given up.
const maxOther = 100

var errNoReport = errors.New("nvidia-smi prints what is no report")

// line takes a line. A report's rows have the time of its first.
func (r *reader) line(line string) error {
	t, err := parseTable([]byte(plain(line)))
	if err != nil {
		return r.strange()
	}
	if len(t.fields) > 1 && t.fields[0] == "pci.bus_id" && r.header.fields == nil {
		r.header = t
		return nil
	}
	row := strings.Split(line, ",")
	address := kernelAddress(strings.TrimSpace(row[0]))
	before, known := r.held[address]
	if len(row) != len(r.header.fields) || !pci.IsAddress(address) || (!known && len(r.held) >= maxGPUs) {
		return r.strange()
	}
	batch := sut.NewBatch()
	if r.seen == nil || r.seen[address] {
		r.seen, r.atUS = map[string]bool{}, batch.AtUS
	}
	batch.AtUS = r.atUS
	if r.held == nil {
		r.held = map[string]held{}
	}
	gpu := r.feed.numbers.series(address, len(r.seen))
	r.header.sample(batch, gpu, row)
	r.held[address] = r.header.throttle(batch, gpu, row, before)
	r.seen[address] = true
	r.rows++
	r.feed.keep(batch.List)
	return nil
}

func (r *reader) strange() error {
	if r.other++; r.other > maxOther {
		return errNoReport
	}
	return nil
}
