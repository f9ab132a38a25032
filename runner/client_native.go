package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/fault"
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
	from := newPrompts(job, cfg, report)
	if err := from.open(ctx, &cfg); err != nil {
		return Measurement{}, err
	}
	defer from.close()
	out, err := create(job, cfg)
	if err != nil {
		return Measurement{}, err
	}
	var told sources
	short := wantedAnswers(job, cfg.Request.MaxTokens, cfg.Request.IgnoreEOS)
	keep := from.check.watching(short.watching(told.watching(out.Append)))
	res, err := load.Run(ctx, cfg, from, keep, func(p load.Progress) {
		_ = out.Flush() // what a crash leaves is half a second behind; that it failed is told by Close
		report(liveOf(p))
	})
	if res.Health.StampSource != "" {
		out.SetStampSource(res.Health.StampSource)
	}
	m := measured(res, from.Stats())
	m.Lengths = from.check.found(from.way)
	if cfg.Open != nil {
		m.AtOnce = cfg.Open.MaxConcurrency
	}
	m.Notes = slices.Concat(m.Notes, told.notes(), from.told(), short.notes())
	var keeping error
	m.FirstBody, keeping = keepFirst(job, res)
	file, closing := out.Close()
	m.File = file
	m.File.Path = filepath.ToSlash(filepath.Join(Folder, job.Point.ID+".rec"))
	return m, errors.Join(err, unwritten(closing), keeping)
}

func liveOf(p load.Progress) Progress {
	return Progress{Stage: p.Stage, Elapsed: p.Elapsed, Total: p.Total, Done: p.Done, Wanted: p.Wanted,
		InFlight: p.InFlight, Failed: p.Failed, TPS: p.TPS, TTFTMS: p.TTFTMS}
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
		Turns: w.Turns, Strict: w.Strict, Shared: w.SharedPrompts,
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
	client := job.Plan.Client
	targets, err := targetsOf(job.BaseURLs, job.Access.Insecure)
	if err != nil {
		return load.Config{}, err
	}
	cfg := load.Config{
		Targets: targets, Sticky: client.Balance == "sticky", Token: job.Access.Token, Headers: job.Access.Headers, SessionHeaders: client.RoutingHeaders,
		Secrets: job.Access.Secrets, Request: requestOf(job), Salt: saltOf(job), Clock: load.NewClock(),
		Engine: job.Engine, Stall: client.StallTimeout.Std(), Timeout: client.Timeout.Std(), Drain: client.Drain.Std(),
	}
	err = pace(&cfg, job)
	return cfg, err
}

func targetsOf(urls []string, insecure bool) ([]load.Target, error) {
	targets := make([]load.Target, len(urls))
	for i, url := range urls {
		t, err := load.ParseTarget(url)
		if err != nil {
			return nil, err
		}
		t.Insecure = insecure
		targets[i] = t
	}
	return targets, nil
}

func requestOf(job Job) load.Request {
	s := job.Plan.Workload.Sampling
	return load.Request{
		Endpoint: job.Plan.Server.Endpoint, Model: job.Model, Dialect: job.Plan.Server.Engine, Omit: job.OmitBody,
		MaxTokens: s.MaxTokens, IgnoreEOS: s.IgnoreEOS, Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed, Cache: s.CachePrompt,
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

// measured puts a load's result into the form every client has.
func measured(res load.Result, data dataset.Stats) Measurement {
	m := Measurement{
		Window: metrics.Window(res.Window), Issue: metrics.Window(res.Issue), Refused: refusalsOf(res.Refused), Dataset: data.SHA256,
		Notes: res.Notes, Stopped: res.Stopped, Waiting: res.Waiting, Unready: res.Unready, Warmup: res.Warmup,
		Client: clientOf(res.Health),
	}
	if data.BadLines > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("lines of the dataset that could not be used: %d; %s", data.BadLines, strings.Join(data.BadFirst, "; ")))
	}
	switch {
	case res.Repeats > 0 && data.Made > 0:
		m.Notes = append(m.Notes, fmt.Sprintf("the %d prompts that were cut before the load were begun again %s", data.Made, times(res.Repeats)))
	case res.Repeats > 0:
		m.Notes = append(m.Notes, "the dataset was begun again "+times(res.Repeats))
	}
	m.Notes = append(m.Notes, data.Notes...)
	return m
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func refusalsOf(refused []load.Refusal) []Refusal {
	var out []Refusal
	for _, r := range refused {
		out = append(out, Refusal(r))
	}
	return out
}
