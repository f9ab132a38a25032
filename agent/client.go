package agent

import (
	"context"
	"fmt"

	"assay/agent/count"
	"assay/agent/foreign"
	"assay/agent/telemetry"
	"assay/agent/verdict"
	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/imported"
	"assay/store"
)

// pullAll gets the images of the server, of the routers and of the client.
func (x *execution) pullAll(ctx context.Context) error {
	if err := x.pull(ctx); err != nil {
		return err
	}
	if err := x.pullRouters(ctx); err != nil {
		return err
	}
	return x.pullClient(ctx)
}

// pullClient gets the image of a client that is another program, or finds the program, and asks for its version.
func (x *execution) pullClient(ctx context.Context) error {
	client, is, err := foreign.New(x.plan, x.access.Token, x.specOptions(), x.Docker)
	if err != nil || !is {
		return err
	}
	remarks, err := client.Prepare(ctx, x.pulling)
	for _, remark := range remarks {
		x.note(remark)
	}
	if err != nil {
		return err
	}
	x.client = client
	if x.identity.Client, err = client.Identify(ctx); err != nil {
		return err
	}
	return x.put(ctx, store.Identity, x.identity)
}

// startClient runs the client that is another program. What it wrote is rid of secrets before anyone reads it.
func (x *execution) startClient(ctx context.Context, c runner.Command) error {
	err := x.client.Start(ctx, c)
	if hiding := x.hide.Folder(c.Dir); hiding != nil && err == nil {
		err = hiding
	}
	return err
}

// adopt makes the point of what another program measured. It gets the telemetry that any point gets, and is held against it.
func (x *execution) adopt(ctx context.Context, p plan.Point, m runner.Measurement, out *result.Point) (runner.Reading, error) {
	made, err := imported.Planned{Dir: x.dir, Run: x.run.ID, At: p, By: *m.Foreign}.Import()
	if err != nil {
		return runner.Reading{}, err
	}
	var told runner.Reading
	if made.Reading != nil {
		told = *made.Reading
	}
	q := made.Point
	out.State, out.Reasons, out.Imported, out.Metrics, out.MLPerf, out.Window, out.Recording = q.State, q.Reasons, q.Imported, q.Metrics, q.MLPerf, q.Window, q.Recording
	out.Warmup = q.Warmup
	out.Notes = append(append(out.Notes, m.Notes...), q.Notes...)
	if n := m.Foreign.Prompts; n > 0 && told.Requests > n {
		out.Notes = append(out.Notes, fmt.Sprintf("the %d prompts were begun again: %d requests", n, told.Requests))
	}
	var samples foreign.Samples
	if w := out.Window; w != nil {
		all := x.telemetry.Samples()
		out.Telemetry = telemetry.Summarise(all, w.StartedUS, w.EndedUS)
		out.Notes = append(out.Notes, telemetry.Doubts(out.Telemetry)...)
		samples = foreign.SamplesOf(telemetry.Within(all, w.StartedUS, w.EndedUS))
	}
	if r := foreign.Underload(p, made, samples); r != nil {
		verdict.Blame(out, *r, true)
	}
	if r := foreign.Length(x.plan, made); r != nil {
		verdict.Blame(out, *r, false)
	}
	if x.identity.Client.Version == "" {
		x.identity.Client.Version = made.Version
	}
	return told, x.survived(ctx, told.Broken > 0)
}

// compareCounts holds the engine's counters against what the client tells of its requests; nothing where it lists none.
func (x *execution) compareCounts(c result.EngineCount, m runner.Measurement, told runner.Reading, out *result.Point) {
	if m.Foreign == nil {
		count.Compare(c, told, out)
		return
	}
	if out.Recording == nil {
		return
	}
	out.Engine = &c
	unknown := imported.Read(*out.Imported.Told).Unknown
	if r := foreign.Hidden(&c, imported.Measured{Reading: &told, Unknown: unknown}, foreign.Unlisted(x.plan, *m.Foreign)); r != nil {
		verdict.Blame(out, *r, true)
	}
}
