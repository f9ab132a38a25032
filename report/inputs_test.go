package report

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"assay/fault"
	"assay/probes"
	"assay/result"
	"assay/runner/metrics"
	"assay/runner/record"
)

// named is a test input of the conformance and golden tests.
type named struct {
	Name string
	Input
}

// inputs are the results that every format must write.
func inputs(t testing.TB) []named {
	t.Helper()
	all := []named{
		{"sweep", sweepInput()},
		{"tiny", tinyInput()},
		{"not_valid", notValidInput()},
		{"serve", serveInput()},
		{"matrix", matrixInput()},
		{"failed", failedInput()},
		{"hostile", hostileInput()},
		{"many", manyInput()},
	}
	for i := range all {
		raw, err := json.Marshal(all[i].Result)
		if err != nil {
			t.Fatal(err)
		}
		all[i].Raw = append(raw, '\n')
	}
	return all
}

func inputNamed(t testing.TB, name string) Input {
	t.Helper()
	for _, in := range inputs(t) {
		if in.Name == name {
			return in.Input
		}
	}
	t.Fatalf("no input %q", name)
	return Input{}
}

const epoch = int64(1_793_109_720_000_000) // 2026-10-27 14:02:00 UTC

func ptr[T any](v T) *T { return &v }

// dist makes a distribution from the values a page prints.
func dist(low, mean, p50, p90, p95, p99, p999, high float64, n int64) *metrics.Distribution {
	between := func(t float64) float64 { return low + (p50-low)*t }
	return &metrics.Distribution{
		Min: low, Mean: mean, P1: between(.1), P5: between(.25), P10: between(.4), P25: between(.75), P50: p50, P75: (p50 + p90) / 2,
		P90: p90, P95: p95, P99: p99, P999: p999, Max: high, N: n,
	}
}

// published is a column of the run data of a published page.
type published struct {
	c                int
	tps, util, qps   float64
	out              int64
	avg, dur         float64
	n                int
	ttft, tpot, e2e  [8]float64
	router           string
	lag, cpu, active float64
}

func publishedRuns() []published {
	return []published{
		{32, 2342.239, 42.67, 2.72387, 16198690, 859.89, 6915.90, 18838, [8]float64{108.4, 449.2, 389.8, 684.4, 790.0, 1345.8, 10240.9, 12635.1}, [8]float64{3.50, 9.67, 9.25, 13.2, 14.5, 17.8, 32.1, 102.9}, [8]float64{306.5, 9988.3, 1920.0, 23316.8, 63922.9, 113451.9, 130205.4, 157564.2}, "nginx", 18.2, 402, 27.2},
		{40, 2617.708, 47.69, 3.10711, 15544790, 842.49, 5938.32, 18451, [8]float64{118.1, 463.0, 399.9, 691.7, 791.8, 1464.8, 10855.4, 13797.5}, [8]float64{2.88, 11.0, 10.5, 14.8, 16.2, 20.4, 41.8, 126.7}, [8]float64{346.1, 11026.2, 2142.5, 25580.3, 66138.1, 124205.9, 138784.5, 170420.1}, "nginx", 18.4, 388, 34.3},
		{64, 3242.672, 59.07, 3.76587, 15416569, 861.07, 4754.28, 17904, [8]float64{139.9, 534.9, 445.0, 762.6, 902.3, 1793.3, 12638.0, 15725.1}, [8]float64{5.96, 14.9, 14.1, 19.8, 21.7, 30.2, 67.4, 124.3}, [8]float64{409.9, 14938.6, 2829.4, 35111.7, 98368.1, 166108.8, 182201.3, 209837.9}, "nginx", 18.9, 371, 56.3},
		{128, 4127.733, 75.20, 4.66607, 14371650, 884.63, 3481.73, 16246, [8]float64{205.3, 741.8, 566.8, 973.0, 1190.2, 3244.3, 17827.6, 22765.4}, [8]float64{10.6, 24.1, 22.3, 31.5, 34.8, 64.7, 107.4, 245.6}, [8]float64{665.9, 24468.3, 4189.3, 60183.0, 178431.4, 260086.1, 282175.4, 335549.1}, "nginx", 19.4, 344, 114.2},
		{256, 5159.164, 93.98, 5.84898, 28079574, 882.06, 5442.66, 31834, [8]float64{312.1, 1062.1, 796.5, 1361.6, 1653.3, 3505.2, 32678.5, 39626.9}, [8]float64{17.4, 39.4, 36.9, 51.4, 56.5, 89.1, 132.5, 166.3}, [8]float64{864.6, 39866.7, 6733.9, 96286.5, 285510.0, 419121.8, 453851.0, 506035.4}, "nginx", 21.2, 690, 233.2},
		{384, 5489.382, 100, 6.10457, 25220581, 899.23, 4594.43, 28047, [8]float64{407.1, 1499.1, 921.8, 1527.6, 1920.3, 21939.6, 53067.4, 60575.2}, [8]float64{23.0, 55.3, 51.8, 71.8, 79.7, 127.9, 167.3, 320.9}, [8]float64{1233.3, 56421.0, 9111.1, 139171.9, 445061.1, 572706.6, 622475.0, 723088.7}, "nginx", 22.0, 615, 344.4},
		{512, 5476.448, 99.76, 6.34359, 55959414, 863.30, 10218.19, 64820, [8]float64{496.3, 2522.2, 1102.0, 4008.5, 9648.5, 27654.9, 88943.2, 100772.7}, [8]float64{19.3, 73.1, 66.1, 101.5, 118.1, 175.3, 393.2, 1917.8}, [8]float64{1329.3, 74014.6, 13418.4, 174761.8, 513624.5, 799062.5, 1027529.0, 1293983.3}, "haproxy", 24.1, 1408, 469.5},
	}
}

func (x published) summary() *metrics.Summary {
	d := func(v [8]float64) *metrics.Distribution {
		return dist(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], int64(x.n))
	}
	c := float64(x.c)
	return &metrics.Summary{
		RequestsIssued: x.n, RequestsCompleted: x.n, Outcomes: map[string]int{"ok": x.n}, DurationS: x.dur, QPS: ptr(x.qps),
		InputTokens: ptr(x.out * 21), OutputTokens: ptr(x.out), AvgOutputTokens: ptr(x.avg), SystemTPS: ptr(x.tps), SystemTPSCompleted: ptr(x.tps * 0.998),
		TotalTPS: ptr(x.tps * 22), TPSPerUser: ptr(x.tps / c), TPSPerUserTPOT: ptr(1000 / x.tpot[1]), TPSPerRequest: ptr(1050 / x.tpot[1]),
		TTFTMS: d(x.ttft), TTFATMS: dist(x.ttft[0]*2, x.ttft[1]*2, x.ttft[2]*2, x.ttft[3]*2, x.ttft[4]*2, x.ttft[5]*2, x.ttft[6]*2, x.ttft[7]*2, int64(x.n)),
		TPOTMS: d(x.tpot), E2EMS: d(x.e2e), ITLMS: dist(0.02, x.tpot[1], x.tpot[2], x.tpot[3]*1.2, x.tpot[4]*1.4, x.tpot[5]*1.7, x.tpot[6]*2, x.tpot[7]*2, x.out),
		QueueMS:    dist(0, 0.02, 0.018, 0.022, 0.03, 0.05, 0.2, 1.4, int64(x.n)),
		ActiveMean: ptr(x.active), Utilization: ptr(x.util), CachedTokens: ptr(x.out * 19), PrefixHitRate: ptr(90.4),
	}
}

// sweepInput is a whole good run: seven points on eight accelerators, with telemetry and recordings.
func sweepInput() Input {
	var points []result.Point
	at := epoch + 31*60*1_000_000
	for _, x := range publishedRuns() {
		p := x.point(at)
		at = p.Window.EndedUS + 190_000_000
		points = append(points, p)
	}
	sut := gpuSUT()
	after := sut
	after.ProbedAtUS = at
	r := result.Result{
		Schema: result.Schema,
		Run: result.Run{
			ID: "01k8n3v0d2m7q", Name: "dsv41f-agentic-mi300x8", State: result.Done, Verdict: result.Valid, Reasons: []result.Reason{},
			PlanSHA256: "41ab7c0e5d6f8a9b0c1d2e3f405162738495a6b7c8d9eafb0c1d2e3f40516290", CreatedUS: epoch - 2_000_000, StartedUS: epoch, EndedUS: at + 240_000_000,
			Program: probes.Program{Version: "0.1.0", Commit: "d3c57f2", Go: "go1.26.0"}, Phases: phases(points),
		},
		Plan:     json.RawMessage(`{"apiVersion":"assay/v1","name":"dsv41f-agentic-mi300x8","server":{"engine":"vllm","runtime":"docker","image":"vllm/vllm-openai-rocm@sha256:e7d4d8643501172acc5e9a6fcc3739680359613c2904ec977cde9e721e798e82"},"workload":{"kind":"agentic","salt":"session","sampling":{"max_tokens":8192}},"protocol":{"sweep":{"concurrency":[32,40,64,128,256,384,512],"min_duration":"20m"}}}`),
		Identity: gpuIdentity(), SUT: result.SUT{Before: &sut, After: &after, Drift: []result.Reason{}}, Checks: gpuChecks(), Points: points,
		Artifacts: []result.Artifact{{Path: "server.log", SHA256: "8d2f00aa91", Bytes: 4_312_771}, {Path: "telemetry.jsonl.zst", SHA256: "5f0b6c11d4", Bytes: 9_100_200}},
	}
	launched(&r)
	return Input{Result: r, Telemetry: gpuTelemetry(points), Recording: fixedRecording}
}

func (x published) client() *metrics.Client {
	lag := metrics.Lag{P50: x.lag / 3, P99: x.lag, Max: x.lag * 40}
	return &metrics.Client{
		StampSource: "kernel", TokenSource: "usage", LagUS: lag, RefillUS: lag, IdleShare: ptr(x.lag / 1e5),
		StampDelayUS: metrics.Lag{P50: 31, P99: 287, Max: 4095}, SchedLatencyUS: metrics.Lag{P50: 2.048, P99: 57.344, Max: 3276.8},
		CPUS: x.cpu, CPUShare: x.cpu / x.dur / 16, CPUWaitS: x.cpu / 50, GOMAXPROCS: 16, RSSBytes: 96 << 20,
		Events: x.out - 1000, SharedReads: x.out / 400, Reads: x.out - 900, BytesIn: 270 * x.out,
		GCPauseUS: 310, GCPauseMaxUS: 98.304, Sockets: metrics.Sockets{Opened: int64(x.c) + 1, Reused: int64(x.n), AtOnce: int64(x.c), Files: x.c + 30},
	}
}

func (x published) point(at int64) result.Point {
	id := fmt.Sprintf("c%d", x.c)
	s, drained := x.summary(), x.summary()
	drained.DurationS *= 1.004
	drained.SystemTPS, drained.Utilization = ptr(x.tps/1.004), nil // a document has the share of the window alone
	end := at + int64(x.dur*1e6)
	watts := 520 + 230*math.Min(1, x.util/95)
	p := result.Point{
		ID: id, Phase: "sweep", Concurrency: ptr(x.c), Router: x.router, State: result.PointValid, Reasons: []result.Reason{},
		Window: &result.Window{StartedUS: at, EndedUS: end, DurationS: x.dur}, Metrics: s, MLPerf: drained,
		Client:    x.client(),
		Telemetry: map[string]result.Telemetry{"engine.running": {Min: 0, Mean: x.active * .98, Max: float64(x.c), N: int(x.dur)}, "engine.kv_usage": {Min: .01, Mean: x.util * .006, Max: x.util * .0073, N: int(x.dur)}, "engine.generation_tokens": {Min: 1e6, Mean: 2e6, Max: 1e6 + float64(x.out), N: int(x.dur), SpanS: x.dur, Growth: ptr(float64(x.out)), Coverage: 1}},
		Recording: &result.Recording{Path: "recordings/" + id + ".rec", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(id))), Requests: x.n, Events: x.out - 1000, EpochUS: at},
	}
	used := 0.0
	for g := range 8 {
		w := watts + float64(g%3) - 1
		used += w * x.dur
		p.Telemetry[fmt.Sprintf("gpu%d.power_w", g)] = result.Telemetry{Unit: "W", Min: 140, Mean: w, Max: math.Min(750, w+55), N: int(x.dur), SpanS: x.dur, MaxGapS: 1, Coverage: 1, EnergyJ: ptr(w * x.dur), Method: result.MethodCounter, OffPct: ptr(0.4)}
		p.Telemetry[fmt.Sprintf("gpu%d.energy_j", g)] = result.Telemetry{Unit: "J", Min: 1e9, Mean: 1e9 + w*x.dur/2, Max: 1e9 + w*x.dur, N: int(x.dur), SpanS: x.dur, MaxGapS: 1, Coverage: 1, Growth: ptr(w * x.dur)}
		p.Telemetry[fmt.Sprintf("gpu%d.throttle_ppt_s", g)] = result.Telemetry{Unit: "s", Min: 4000, Mean: 4000, Max: 4000 + x.dur/10, N: int(x.dur), SpanS: x.dur, MaxGapS: 1, Coverage: 1, Growth: ptr(x.dur / 10 * float64(g) / 7)}
		p.Telemetry[fmt.Sprintf("gpu%d.temp_c", g)] = result.Telemetry{Unit: "°C", Min: 44, Mean: 60 + x.util*.2, Max: 64 + x.util*.2 + float64(g%2), N: int(x.dur)}
	}
	p.Energy = &result.Energy{Accelerators: 8, AcceleratorJ: &used, Method: result.MethodCounter, Coverage: 1, TokensPerJoule: ptr(x.tps * x.dur / used)}
	return p
}

func phases(points []result.Point) []result.Phase {
	s := int64(1_000_000)
	out := []result.Phase{
		{Name: "preflight", StartedUS: epoch, EndedUS: epoch + 9*s}, {Name: "pull", StartedUS: epoch + 9*s, EndedUS: epoch + 410*s},
		{Name: "start", StartedUS: epoch + 410*s, EndedUS: epoch + 414*s}, {Name: "ready", StartedUS: epoch + 414*s, EndedUS: epoch + 1700*s},
	}
	for _, p := range points {
		out = append(out, result.Phase{Name: "warmup", Point: p.ID, StartedUS: p.Window.StartedUS - 100*s, EndedUS: p.Window.StartedUS},
			result.Phase{Name: "measure", Point: p.ID, StartedUS: p.Window.StartedUS, EndedUS: p.Window.EndedUS + 40*s})
	}
	last := out[len(out)-1].EndedUS
	return append(out, result.Phase{Name: "collect", StartedUS: last, EndedUS: last + 20*s}, result.Phase{Name: "stop", StartedUS: last + 20*s, EndedUS: last + 55*s})
}

func gpuIdentity() result.Identity {
	return result.Identity{
		Model:   result.ModelIdentity{Name: "deepseek-v4_1-flash", Served: "deepseek-ai/DeepSeek-V4.1-Flash-1017", Revision: "1bae0e1088993b9b82de08f59de5be5a34e42170", Path: "/mnt/llm_data/dsv41f", Listed: []string{"deepseek-ai/DeepSeek-V4.1-Flash-1017"}},
		Dataset: result.DatasetIdentity{Kind: "agentic", Path: "agentic_combined.jsonl", SHA256: "9f314b7d2e0c6a8f5b1d3e7c9a0b2d4f6e8c1a3b5d7f9e0c2a4b6d8f1e3c5ac2", Seed: "7"},
		Client:  result.ClientIdentity{Kind: "native", Version: "0.1.0"},
	}
}

func gpuChecks() []probes.Check {
	return []probes.Check{
		{ID: "gpu_count", State: probes.CheckOK, Text: "8 of 8 accelerators answer", Evidence: []string{"kfd topology: 8 nodes with SIMDs"}},
		{ID: "power_cap", State: probes.CheckOK, Text: "all caps at default (750 W)", Evidence: []string{"hwmon power1_cap 750000000 on all 8"}},
		{ID: "idle", State: probes.CheckOK, Text: "no other process holds an accelerator", Evidence: []string{}},
		{ID: "numa_balancing", State: probes.CheckWarn, Text: "automatic NUMA balancing is on; AMD advises to switch it off", Evidence: []string{"/proc/sys/kernel/numa_balancing is 1"}, Hint: "sysctl kernel.numa_balancing=0"},
		{ID: "pcie_link", State: probes.CheckOK, Text: "8 × 32 GT/s × 16, as wide as slot and device allow", Evidence: []string{}},
		{ID: "bmc_power", State: probes.CheckUnknown, Text: "the machine's own power is not read", Evidence: []string{"Redfish: no address configured"}},
	}
}

// gpuTelemetry is a sample every five seconds of every series, smooth and the same each time.
func gpuTelemetry(points []result.Point) func(func(probes.Sample) bool) {
	points = slices.Clone(points)
	first, last := points[0].Window.StartedUS-60_000_000, points[len(points)-1].Window.EndedUS+60_000_000
	return func(yield func(probes.Sample) bool) {
		for at := first; at < last; at += 5_000_000 {
			busy, c := 0.0, 0.0
			for _, p := range points {
				if at >= p.Window.StartedUS && at < p.Window.EndedUS {
					busy, c = *p.Metrics.Utilization/100, float64(*p.Concurrency)
				}
			}
			wave := math.Sin(float64(at/1_000_000) / 97)
			for g := range 8 {
				n := float64(g)
				for _, s := range []probes.Sample{
					{AtUS: at, Series: fmt.Sprintf("gpu%d.power_w", g), Value: 160 + busy*(540+9*math.Sin(n+float64(at/5_000_000))+12*wave)},
					{AtUS: at, Series: fmt.Sprintf("gpu%d.temp_c", g), Value: 46 + busy*(30+n) + 2*wave},
					{AtUS: at, Series: fmt.Sprintf("gpu%d.vram_used_bytes", g), Value: (171 + n/10) * (1 << 30)},
				} {
					if !yield(s) {
						return
					}
				}
			}
			for _, s := range []probes.Sample{
				{AtUS: at, Series: "engine.running", Value: math.Round(c * (.9 + .08*wave))}, {AtUS: at, Series: "engine.waiting", Value: 0},
				{AtUS: at, Series: "engine.kv_usage", Value: .73 * busy * (.95 + .05*wave)}, {AtUS: at, Series: "engine.generation_tokens", Value: float64(at-first) / 1e6 * 4000}, {AtUS: at, Series: "host.cpu_pct", Value: 4 + 14*busy + wave},
			} {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// fixedRecording stands for the files of a run: a warm-up request, a good one, one that was never sent and one whose counts were not told.
func fixedRecording(path string, visit func(*record.Request) error) (record.Whole, error) {
	requests := []record.Request{
		{Index: 0, Warmup: true, ID: "warm", SentUS: 5, Outcome: record.OK},
		{Index: 1, ID: "chatcmpl-<1>", Session: "s1", Turn: 2, SentUS: 1000, DoneUS: 9000, Outcome: record.OK, InputTokens: 40, OutputTokens: 5, Events: []record.Event{{AtUS: 3000, Tokens: 1}, {AtUS: 8000, Tokens: 4}}},
		{Index: 2, SentUS: record.Never, Outcome: record.Dropped, InputTokens: record.Never, OutputTokens: record.Never},
		{Index: 3, ID: "c3", SentUS: 2000, Outcome: record.Reset, InputTokens: record.Never, OutputTokens: record.Never, Events: []record.Event{{AtUS: 2500, Tokens: 1}}},
	}
	for i := range requests {
		if err := visit(&requests[i]); err != nil {
			return record.Whole{}, err
		}
	}
	return record.Whole{Header: record.Header{Schema: record.Schema, Run: "r", Point: path, EpochUS: epoch, StampSource: "kernel", TokenSource: "usage"}, Requests: len(requests)}, nil
}

// tinyInput is the least a valid run has: one point, no telemetry, a machine without accelerators.
func tinyInput() Input {
	x := published{c: 1, tps: 214.31, util: 100, qps: 3.31, out: 2114, avg: 64.06, dur: 9.87, n: 33,
		ttft: [8]float64{.41, .62, .58, .81, .9, 1.2, 1.3, 1.31}, tpot: [8]float64{4.01, 4.4, 4.39, 4.6, 4.7, 5.1, 5.2, 5.2}, e2e: [8]float64{101, 299.1, 280.2, 441, 480, 502, 510, 511}, router: "none", lag: 31, cpu: .08, active: .99}
	p := x.point(epoch + 1_000_000)
	p.Telemetry, p.Energy, p.MLPerf, p.Metrics.TTFATMS, p.Metrics.CachedTokens, p.Metrics.PrefixHitRate = nil, nil, nil, nil, nil, nil
	sut := cpuSUT()
	return Input{Result: result.Result{
		Schema: result.Schema,
		Run: result.Run{ID: "01k8tiny", Name: "demo", State: result.Done, Verdict: result.Valid, Reasons: []result.Reason{}, PlanSHA256: "00ff", CreatedUS: epoch, StartedUS: epoch,
			EndedUS: epoch + 14_000_000, Program: probes.Program{Version: "dev", Go: "go1.26.0"}, Phases: []result.Phase{{Name: "measure", Point: "c1", StartedUS: epoch + 1_000_000, EndedUS: epoch + 11_000_000}}},
		Plan:     json.RawMessage(`{"server":{"engine":"sim","runtime":"process"},"workload":{"kind":"agentic"},"protocol":{"sweep":{"concurrency":[1]}}}`),
		Identity: result.Identity{Server: json.RawMessage(`{"runtime":"process","argv":["assay","sim"],"version":"dev"}`), Model: result.ModelIdentity{Name: "sim-1"}, Dataset: result.DatasetIdentity{Kind: "agentic", Seed: "1"}, Client: result.ClientIdentity{Kind: "native", Version: "dev"}, Notes: []string{"the model has no revision"}},
		SUT:      result.SUT{Before: &sut, Drift: []result.Reason{}}, Checks: []probes.Check{}, Points: []result.Point{p}, Artifacts: []result.Artifact{},
	}, Recording: fixedRecording}
}

// notValidInput is a run whose last point failed by the client, on a machine that changed meanwhile.
func notValidInput() Input {
	in := sweepInput()
	r := &in.Result
	r.Run.Verdict = result.NotValid
	r.Run.Reasons = []result.Reason{{Code: "points_not_valid", Text: "2 of 7 points are not valid"}, {Code: "server_died", Text: "point c128: the server ended by itself", Evidence: "exit code 139"}}
	bad := &r.Points[6]
	bad.State = result.PointNotValid
	bad.Reasons = []result.Reason{{Code: "client_bound", Text: "the client sent too late to measure this point", Evidence: "lag P99 4,120 µs, limit 1,000 µs"}, {Code: "failed_requests", Text: "more than 0.1 % of the requests failed", Evidence: "412 of 64,820"}}
	bad.Client.LagUS = metrics.Lag{P50: 902, P99: 4120, Max: 88000}
	bad.Client.StampSource = "user"
	bad.Metrics.RequestsFailed, bad.Metrics.RequestsCompleted = 412, 64408
	bad.Metrics.Outcomes = map[string]int{"ok": 64408, "reset": 300, "timeout": 100, "http_status": 12}
	skipped := &r.Points[3]
	*skipped = result.Point{ID: "c128", Phase: "sweep", Concurrency: ptr(128), State: result.PointFailed, Reasons: []result.Reason{{Code: "server_died", Text: "the server ended by itself", Evidence: "exit code 139"}}}
	r.SUT.Drift = []result.Reason{{Code: "power_cap_changed", Text: "the power cap of accelerator 3 changed", Evidence: "750 W → 650 W"}}
	r.Identity.Notes = []string{"image not pinned: vllm/vllm-openai-rocm:nightly"}
	badlyLaunched(r)
	return in
}

// serveInput is an open loop at one rate.
func serveInput() Input {
	in := sweepInput()
	r := &in.Result
	p := r.Points[5]
	p.ID, p.Phase, p.Concurrency, p.Rate = "r140", "serve", nil, ptr(140.0)
	p.Metrics.TPSPerUser, p.Metrics.TPSPerNode = nil, ptr(21785.7)
	p.MLPerf, p.Metrics.TotalTPS, p.Metrics.InputTokens = nil, ptr(85347.35), ptr(int64(7_667_200))
	inside := *p.Metrics
	inside.RequestsCompleted, inside.InputTokens, inside.SystemTPS, inside.TotalTPS = 4333, ptr(int64(2_218_496)), ptr(19153.), ptr(38306.)
	inside.TTFTMS, inside.ITLMS = dist(412, 1677.87, 1720.09, 2387.32, 2502, 2633, 2707, 2719, 4333), dist(88, 159.9, 158.4, 183.1, 190, 204, 219, 301, 2_214_163)
	p.Inside = &inside
	r.Identity.Dataset = result.DatasetIdentity{Kind: "sharegpt", Path: "data/ShareGPT_V3_unfiltered_cleaned_split.json", Seed: "0"}
	r.Points, r.Run.Name = []result.Point{p}, "dsr1-pd-rate140"
	r.Plan = json.RawMessage(`{"server":{"engine":"vllm","runtime":"endpoint","url":"http://127.0.0.1:8000"},"workload":{"kind":"sharegpt","input_len":512},"protocol":{"serve":{"rate":[140],"arrival":"poisson","max_concurrency":10800,"window":{"warmup":"2m","cooldown":"70s"}}}}`)
	return in
}

// matrixInput is contexts × concurrencies with cells over capacity and cells that queued.
func matrixInput() Input {
	in := sweepInput()
	r := &in.Result
	r.Points, r.Run.Name, in.Telemetry = nil, "dsv41f-matrix", nil
	r.Plan = json.RawMessage(`{"server":{"engine":"vllm","runtime":"docker"},"workload":{"kind":"text"},"protocol":{"matrix":{"contexts":["8k","64k","512k"],"concurrency":[1,2,4,8,16,32,64,128],"duration":"30s","max_tokens":4096}}}`)
	at := epoch + 60_000_000
	for i, context := range []int{8192, 65536, 524288} {
		p := cellPoint("prefill", context, 1, at)
		p.Metrics.PromptTPS, p.Metrics.SystemTPS = ptr([]float64{14312, 15903, 14011}[i]), nil
		p.ID = fmt.Sprintf("prefill-%d", context)
		r.Points = append(r.Points, p)
		at += 31_000_000
	}
	for _, context := range []int{8192, 65536, 524288} {
		for _, c := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
			p := cellPoint("decode", context, c, at)
			if context == 524288 && c > 32 {
				p.State, p.Metrics, p.Cell, p.Client, p.Window, p.Recording, p.Telemetry, p.Energy = result.PointOver, nil, nil, nil, nil, nil, nil, nil
				p.Reasons = []result.Reason{{Code: "kv_capacity", Text: "needs more KV cache than the engine has", Evidence: fmt.Sprintf("%d tokens of 16,777,216", c*(context+4096))}}
			} else if context == 524288 && c == 32 {
				p.State, p.Reasons = result.PointQueued, []result.Reason{{Code: "waiting", Text: "the engine reported waiting requests for 31 % of the window"}}
			}
			r.Points = append(r.Points, p)
			at += 31_000_000
		}
	}
	r.Run.EndedUS, r.Run.Phases = at, r.Run.Phases[:4]
	return in
}

func cellPoint(phase string, context, c int, at int64) result.Point {
	slow := 1 + float64(context)/3e6
	tps := 281 * math.Pow(float64(c), .56) / slow
	x := published{c: c, tps: tps, qps: tps / 4096, out: int64(tps * 30), avg: 4096, dur: 30, n: 3 * c, ttft: [8]float64{60, 80, 74 * slow, 200, 210, 220, 230, 240}, tpot: [8]float64{3, 3.6, 3.5 * slow, 4, 4.2, 4.4, 4.6, 5}, e2e: [8]float64{9000, 9900, 9800, 10000, 10100, 10200, 10300, 10400}, router: "none", lag: 18, cpu: 2, active: float64(c)}
	p := x.point(at)
	p.ID, p.Phase, p.Context, p.Telemetry, p.Energy, p.MLPerf, p.Metrics.Utilization = fmt.Sprintf("decode-%dx%d", context, c), phase, ptr(context), nil, nil, nil, nil
	if c > 1 {
		p.Telemetry = map[string]result.Telemetry{"engine.running": {Unit: "requests", Min: float64(c - 1), Mean: float64(c) * .99, Max: float64(c), N: 30, SpanS: 29}}
	}
	if phase == "decode" { // no request ends in the cell: its latencies are those of the streams
		streams, m := *p.Metrics, p.Metrics
		p.Cell = &streams
		m.RequestsCompleted, m.OutputTokens, m.TTFTMS, m.TTFATMS, m.TPOTMS, m.E2EMS, m.ITLMS, m.TPSPerRequest, m.TPSPerUserTPOT = 0, nil, nil, nil, nil, nil, nil, nil, nil
	}
	return p
}

// manyInput is a sweep of more points than stand beside each other on paper, with the longest figures a column can have.
func manyInput() Input {
	in := sweepInput()
	r := &in.Result
	r.Points = nil
	var all []*metrics.Summary
	at := epoch + 60_000_000
	for i := range 24 {
		x := publishedRuns()[6]
		x.c, x.tps = 4*(i+1), x.tps*float64(i+1)/24
		p := x.point(at)
		at = p.Window.EndedUS + 60_000_000
		r.Points, all = append(r.Points, p), append(all, p.Metrics)
	}
	metrics.Utilize(all)
	r.Points[20].State, r.Points[20].Reasons = result.PointNotValid, notValidInput().Result.Points[6].Reasons
	r.Run.EndedUS, r.Run.Phases, in.Telemetry = at, phases(r.Points), gpuTelemetry(r.Points[:3])
	return in
}

// failedInput is a run that ended before its first point.
func failedInput() Input {
	return Input{Result: result.Result{
		Schema: result.Schema,
		Run: result.Run{ID: "01k8fail", Name: "broken", State: result.Failed, Reasons: []result.Reason{}, PlanSHA256: "aa", CreatedUS: epoch, StartedUS: epoch, EndedUS: epoch + 3_000_000,
			Error:  fault.New(fault.Image, "not_found", "check the digest with `assay plan pin`", "pull: image digest not found in registry"),
			Phases: []result.Phase{{Name: "pull", StartedUS: epoch, EndedUS: epoch + 2_000_000, Error: fault.New(fault.Image, "not_found", "", "image digest not found in registry")}, {Name: "stop", StartedUS: epoch + 2_000_000}}},
		Plan: json.RawMessage(`{}`), SUT: result.SUT{Drift: []result.Reason{}}, Checks: []probes.Check{}, Points: []result.Point{}, Artifacts: []result.Artifact{},
	}}
}

// attack is put in every place where a text from outside can stand.
const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>|` + "`*_[x](javascript:alert(3))"

// hostileInput has names that try to break out of every format.
func hostileInput() Input {
	in := tinyInput()
	r := &in.Result
	r.Run.Name, r.Identity.Model.Name, r.Identity.Notes = attack, attack, []string{attack}
	r.Run.Reasons = []result.Reason{{Code: attack, Text: attack, Evidence: attack}}
	r.Points[0].ID, r.Points[0].Router, r.Points[0].State = attack, "=cmd()", result.PointState(attack)
	r.Points[0].Reasons = []result.Reason{{Code: "=1+1", Text: attack, Evidence: attack}}
	r.SUT.Before.System.Product = probes.Known(attack, attack)
	r.SUT.Before.System.Vendor = probes.Unknown[string](attack)
	r.Checks = []probes.Check{{ID: attack, State: probes.CheckFail, Text: attack, Evidence: []string{attack}, Hint: attack}}
	r.Identity.Server = json.RawMessage(`{"argv":["</title><script>alert(4)</script>"]}`)
	r.Plan = json.RawMessage(`{"name":"</pre><script>alert(5)</script>"}`)
	r.Points[0].Telemetry = map[string]result.Telemetry{attack + ".x_w": {Mean: 1, Max: 2, N: 3}}
	in.Telemetry = func(yield func(probes.Sample) bool) {
		yield(probes.Sample{AtUS: r.Points[0].Window.StartedUS, Series: attack + ".x_w", Value: 4})
	}
	return in
}
