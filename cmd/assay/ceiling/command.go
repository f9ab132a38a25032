package ceiling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"assay/fault"
	"assay/runner/load"
	"assay/sim/paced"
)

// Outside is what the commands touch of the world.
type Outside struct {
	Stdout, Stderr io.Writer
	Program        string // this program's file
	Version        string
	Usage          func(format string, args ...any) error
	Write          func(name string, b []byte) error // a file that the user asked for
	Writable       func(name string) error           // whether Write could
	Failed         error                             // no point was held, and that was told
}

// options are the flags.
type options struct {
	streams  []int
	rates    []float64
	duration time.Duration
	json     bool
	out      string
	floor    string
	markdown bool
}

// Command is `assay bench-client`.
func Command(w Outside) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use: "bench-client", Short: "the ceiling of the client on this machine",
		Long: `How many streams and events per second the native client holds here, and how exact its times are. A server that streams on
a fixed schedule runs as a process of its own, on a core of its own where there are two; the client drives load against it on the
code path of a run; what it recorded is compared with what the server knows, event by event. Without --streams a ladder from 1 to
10,800 streams takes about a minute.`,
		Example: "  assay bench-client\n  assay bench-client --streams 512,10800 --rate 5500,66000 --duration 20s",
		RunE:    func(c *cobra.Command, _ []string) error { return w.bench(c.Context(), o) },
	}
	f := c.Flags()
	f.IntSliceVar(&o.streams, "streams", nil, "measure these numbers of streams, `1,512`")
	f.Float64SliceVar(&o.rates, "rate", nil, "events per second of all streams together, `50,0.5`: one for all or one each; 0 is as fast as they come (default 0)")
	f.Lookup("rate").DefValue = "" // the library would write an empty list
	f.DurationVar(&o.duration, "duration", 6*time.Second, "length of a point's window")
	f.BoolVar(&o.json, "json", false, "the figures as JSON on stdout")
	f.StringVar(&o.out, "out", "", "write the figures as JSON to `FILE`")
	f.StringVar(&o.floor, "floor", "", "program of the least possible client, to compare with")
	f.BoolVar(&o.markdown, "markdown", false, "the table on stdout, for a document")
	for _, name := range []string{"floor", "markdown"} {
		_ = f.MarkHidden(name) // it was made just now
	}
	c.AddCommand(driveCommand(w), pacedCommand(w))
	return c
}

// points are what the flags ask for.
func (o options) points() ([]Point, error) {
	if len(o.streams) == 0 {
		if len(o.rates) > 0 {
			return nil, errors.New("--rate needs --streams")
		}
		return Ladder(), nil
	}
	if n := len(o.rates); n > 1 && n != len(o.streams) {
		return nil, errors.New("--rate takes one value, or one for each of --streams")
	}
	points := make([]Point, len(o.streams))
	for i, n := range o.streams {
		points[i].Streams = n
		if len(o.rates) > 0 {
			points[i].Rate = o.rates[min(i, len(o.rates)-1)]
		}
		if p := points[i]; n < 1 || n > 1_000_000 || p.Rate < 0 || p.Rate > 1e8 {
			return nil, fmt.Errorf("%d streams with %v events/s cannot be measured", n, p.Rate)
		}
	}
	return points, nil
}

func (w Outside) bench(ctx context.Context, o options) error {
	points, err := o.points()
	if err != nil {
		return w.Usage("%w", err)
	}
	if o.duration < time.Second || o.duration > time.Hour {
		return w.Usage("--duration is from 1s to 1h")
	}
	if o.out != "" {
		if err := w.Writable(o.out); err != nil {
			return err
		}
	}
	if points, err = fitting(points, len(o.streams) > 0, w.Stderr); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "assay-bench-client-")
	if err != nil {
		return fault.New(fault.Client, "bench_client", "set TMPDIR to a folder with free space", "cannot make a folder for files: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	report, err := w.ladder(ctx, NewProcess(w.Program, dir), points, o)
	if err != nil {
		return err
	}
	return w.tell(report, o)
}

// fitting leaves out the points that this machine cannot hold. One that was asked for is an error instead.
func fitting(points []Point, asked bool, notes io.Writer) ([]Point, error) {
	var fit []Point
	for _, p := range points {
		err := load.CheckLimits(p.Streams, []load.Target{{Network: "tcp", Address: "127.0.0.1"}})
		if err != nil && asked {
			return nil, err
		}
		if err != nil {
			fmt.Fprintf(notes, "left out: %s: %v\n", p, err)
			continue
		}
		fit = append(fit, p)
	}
	return fit, nil
}

func (w Outside) ladder(ctx context.Context, parts Process, points []Point, o options) (Report, error) {
	r := newReport(w.Version, parts.Pinned(), o.duration)
	if !parts.Pinned() {
		fmt.Fprintln(w.Stderr, "client and server share one core: neither is at its best")
	}
	for i, p := range points {
		fmt.Fprintf(w.Stderr, "%d of %d: %s\n", i+1, len(points), p)
		m, err := parts.Measure(ctx, p, o.duration, o.floor)
		if err != nil {
			return r, err
		}
		r.Points = append(r.Points, m)
	}
	r.Sentence = r.sentence()
	return r, nil
}

func (w Outside) tell(r Report, o options) error {
	doc, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	doc = append(doc, '\n')
	text := w.Stdout
	if o.json {
		text = w.Stderr
		if _, err := w.Stdout.Write(doc); err != nil {
			return fault.New(fault.Store, "not_writable", "", "write the figures: %w", err)
		}
	}
	if o.markdown {
		r.markdown(text)
	} else {
		r.print(text)
	}
	if o.out != "" {
		if err := w.Write(o.out, doc); err != nil {
			return err
		}
	}
	if !r.anyHeld() {
		return w.Failed
	}
	return nil
}

// driveCommand is the client's part, a process of its own.
func driveCommand(w Outside) *cobra.Command {
	var d Drive
	c := &cobra.Command{Use: "drive URL", Short: "the client's part of a measurement", Args: cobra.ExactArgs(1), Hidden: true,
		Example: "  assay bench-client paced --port 8001 --itl 20ms\n  assay bench-client drive http://127.0.0.1:8001 --streams 32 --recording c.rec --cpuprofile cpu.pb.gz"}
	f := c.Flags()
	f.IntVar(&d.Streams, "streams", 1, "streams")
	f.IntVar(&d.Tokens, "tokens", meanTokens, "mean length of a reply")
	f.DurationVar(&d.Settle, "settle", 0, "time before the window")
	f.DurationVar(&d.Duration, "duration", time.Second, "length of the window")
	f.StringVar(&d.Recording, "recording", "", "file of the recording")
	f.StringVar(&d.Profile, "cpuprofile", "", "file of a processor profile")
	c.RunE = func(c *cobra.Command, args []string) error {
		d.URL = args[0]
		done, err := d.Run(c.Context())
		if err != nil {
			return err
		}
		return json.NewEncoder(w.Stdout).Encode(done)
	}
	return c
}

// pacedCommand is the server's part, a process of its own.
func pacedCommand(w Outside) *cobra.Command {
	cfg := paced.Config{}
	var port int
	var log string
	c := &cobra.Command{
		Use: "paced", Short: "a server that streams on a fixed schedule and logs when", Hidden: true,
		Example: "  assay bench-client paced --port 8001 --itl 20ms --log truth",
		RunE:    func(c *cobra.Command, _ []string) error { return w.serve(c.Context(), cfg, port, log) },
	}
	f := c.Flags()
	f.IntVar(&port, "port", 0, "port to listen on at 127.0.0.1; 0 picks one")
	f.DurationVar(&cfg.TTFT, "ttft", 50*time.Millisecond, "from the request to the first token at the earliest")
	f.DurationVar(&cfg.ITL, "itl", 20*time.Millisecond, "between two writes of a stream; 0 is as fast as the client reads")
	f.IntVar(&cfg.Groups, "groups", 0, "groups of streams that are written in one step; 0 gives each stream its own phase")
	f.IntVar(&cfg.Events, "events", 1, "token events of a write")
	f.StringVar(&log, "log", os.DevNull, "`FILE` for what was sent and when")
	return c
}

func (w Outside) serve(ctx context.Context, cfg paced.Config, port int, name string) (err error) {
	if err := cfg.Validate(); err != nil {
		return w.Usage("%w", err)
	}
	f, err := os.Create(name)
	if err != nil {
		return fault.New(fault.Server, "not_writable", "choose another file", "write the log: %w", err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fault.New(fault.Server, "port_in_use", "choose another --port", "cannot listen: %w", err)
	}
	defer l.Close()
	fmt.Fprintf(w.Stderr, "%shttp://%s\n", listening, l.Addr())
	log := paced.NewLog(f)
	return errors.Join(paced.Serve(ctx, l.(*net.TCPListener), cfg, log), log.Close(), f.Close())
}
