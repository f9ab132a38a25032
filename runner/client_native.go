package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/fault"
	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/load"
	"assay/runner/metrics"
	"assay/runner/record"
)

// Folder is where a run's recordings lie, relative to the run's folder.
const Folder = "recordings"

// native is the load generator of this program (package load).
type native struct{}

// Name is what a plan calls it.
func (native) Name() string { return "native" }

// Run measures one point. When ctx ends it closes the recording with what there is and returns ctx's cause.
func (native) Run(ctx context.Context, job Job, report func(Progress)) (Measurement, error) {
	cfg, err := nativeConfig(job)
	if err != nil {
		return Measurement{}, err
	}
	src, err := dataset.Open(datasetConfig(job))
	if err != nil {
		return Measurement{}, err
	}
	if file, ok := src.(io.Closer); ok {
		defer file.Close() // it was only read
	}
	out, err := create(job, cfg)
	if err != nil {
		return Measurement{}, err
	}
	var told sources
	short := wantedLength(job, cfg.Request.MaxTokens, cfg.Request.IgnoreEOS)
	res, err := load.Run(ctx, cfg, src, short.watching(told.watching(out.Append)), func(p load.Progress) { report(Progress(p)) })
	if res.Health.StampSource != "" {
		out.SetStampSource(res.Health.StampSource)
	}
	m := measured(res, src.Stats())
	m.Notes = append(append(m.Notes, told.notes()...), short.notes()...)
	file, closing := out.Close()
	m.File = file
	m.File.Path = filepath.ToSlash(filepath.Join(Folder, job.Point.ID+".rec"))
	return m, errors.Join(err, unwritten(closing))
}

// create opens the point's recording.
func create(job Job, cfg load.Config) (*record.Writer, error) {
	dir := filepath.Join(job.Dir, Folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, unwritten(err)
	}
	out, err := record.Create(filepath.Join(dir, job.Point.ID+".rec"), record.Header{
		Run: job.Run, Point: job.Point.ID, EpochUS: cfg.Clock.EpochUS(), StampSource: "user", // until the load has seen the kernel's
	})
	return out, unwritten(err)
}

// unwritten makes a fault of a recording that could not be written; nil stays nil.
func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Store, "recording", "check the disk's free space and the folder's permissions", "the recording could not be written: %w", err)
}

func datasetConfig(job Job) dataset.Config {
	w := job.Plan.Workload
	cfg := dataset.Config{
		Kind: w.Kind, Path: w.Dataset.Path, Builtin: w.Dataset.Builtin, System: w.System, Seed: w.Seed,
		InputLen: int(w.InputLen), MaxTokens: w.Sampling.MaxTokens, ToolDelay: w.ToolDelay,
	}
	if job.Dataset != "" {
		cfg.Path = job.Dataset
	}
	if job.Point.Context > 0 {
		cfg.InputLen = job.Point.Context
	}
	return cfg
}

func nativeConfig(job Job) (load.Config, error) {
	target, err := load.ParseTarget(job.BaseURL)
	if err != nil {
		return load.Config{}, err
	}
	cfg := load.Config{
		Target: target, Token: job.Token, Request: requestOf(job), Salt: saltOf(job), Clock: load.NewClock(),
		Stall: job.Plan.Client.StallTimeout.Std(), Timeout: job.Plan.Client.Timeout.Std(), Drain: job.Plan.Client.Drain.Std(),
	}
	err = pace(&cfg, job)
	return cfg, err
}

func requestOf(job Job) load.Request {
	s := job.Plan.Workload.Sampling
	return load.Request{
		Endpoint: job.Plan.Server.Endpoint, Model: job.Model, Dialect: job.Plan.Server.Engine, Omit: job.OmitBody,
		MaxTokens: s.MaxTokens, IgnoreEOS: s.IgnoreEOS, Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed,
	}
}

func saltOf(job Job) load.Salt {
	s := load.Salt{Kind: job.Plan.Workload.Salt, Run: job.Run, Point: job.Point.ID}
	switch s.Kind {
	case "run", "session", "none":
	case "":
		s.Kind = "run"
	default:
		s.Kind, s.Text = "text", s.Kind
	}
	return s
}

// pace says how the point's requests are paced.
func pace(cfg *load.Config, job Job) error {
	protocol := job.Plan.Protocol
	switch {
	case job.Point.Phase == "sweep" && protocol.Sweep != nil:
		cfg.Closed = sweep(*protocol.Sweep, job.Point)
	case job.Point.Phase == "serve" && protocol.Serve != nil:
		cfg.Open = serve(*protocol.Serve, job)
	case job.Point.Phase == "prefill" && protocol.Matrix != nil:
		prefill(cfg, *protocol.Matrix)
	case job.Point.Phase == "decode" && protocol.Matrix != nil:
		decode(cfg, *protocol.Matrix, job.Point)
	default:
		return fault.New(fault.Plan, "point", "", "point %s has the phase %q, which is none of its plan's", job.Point.ID, job.Point.Phase)
	}
	return nil
}

func sweep(s plan.Sweep, p plan.Point) *load.Closed {
	return &load.Closed{
		Concurrency: p.Concurrency, Requests: s.Requests, Duration: s.Duration.Std(), MinDuration: s.MinDuration.Std(),
		WarmupRequests: s.Warmup.Requests, WarmupDuration: s.Warmup.Duration.Std(),
	}
}

func serve(s plan.Serve, job Job) *load.Open {
	return &load.Open{
		Rate: job.Point.Rate, Arrival: s.Arrival, Burstiness: s.Burstiness, Seed: job.Plan.Workload.Seed,
		MaxConcurrency: s.MaxConcurrency, Requests: s.Requests, Duration: s.Duration.Std(),
		Warmup: s.Window.Warmup.Std(), Cooldown: s.Window.Cooldown.Std(),
	}
}

// prefill sends one cold prompt after another, each for a single token; the first warms the engine up. A request that
// has begun inside the limit is measured to its end.
func prefill(cfg *load.Config, m plan.Matrix) {
	cfg.Request.MaxTokens = 1
	cfg.Closed = &load.Closed{Concurrency: 1, Duration: m.PrefillDuration.Std(), WarmupRequests: 1, ToEnd: true}
}

const streamingLimit = 10 * time.Minute // wait for every stream of a decode cell to have its first token

// decode keeps streams busy for the cell's time, from when each has had a token. What still streams then is cut off.
func decode(cfg *load.Config, m plan.Matrix, p plan.Point) {
	cfg.Request.MaxTokens, cfg.Request.IgnoreEOS, cfg.Drain = m.MaxTokens, true, 0
	cfg.Closed = &load.Closed{Concurrency: p.Concurrency, Duration: m.Duration.Std(), Streaming: true, ReadyLimit: streamingLimit}
}

// measured puts a load's result into the form every client has.
func measured(res load.Result, data dataset.Stats) Measurement {
	h := res.Health
	m := Measurement{
		Window: metrics.Window(res.Window), Issue: metrics.Window(res.Issue), Refused: res.Refused, Dataset: data.SHA256,
		Notes: res.Notes, Stopped: res.Stopped, Waiting: res.Waiting,
		Client: metrics.Client{
			StampSource: h.StampSource, TokenSource: h.TokenSource, LagUS: metrics.Lag(h.LagUS), CPUS: h.CPU.Seconds(),
			RSSBytes: h.RSSBytes, ClockSteps: h.ClockSteps, GCPauseUS: float64(h.GCPause.Nanoseconds()) / 1000,
		},
	}
	if data.BadLines > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("%d lines of the dataset could not be used: %s", data.BadLines, strings.Join(data.BadFirst, "; ")))
	}
	if data.Repeats > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("the dataset was begun again %d times", data.Repeats))
	}
	return m
}
