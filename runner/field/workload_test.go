package field

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/record"
)

// Prompts, caches, conversations, and what stands in a request.

// caching is a server with a prefix cache of whole prompts: it says how much of a prompt it knew.
func caching(t *testing.T) *server {
	known := map[string]bool{}
	s := newServer(t, nil)
	s.script = func(a *reply) {
		cached := 0
		s.mu.Lock()
		if known[a.prompt()] {
			cached = promptTokens
		}
		known[a.prompt()] = true
		s.mu.Unlock()
		a.head()
		a.token(1)
		a.finish("stop")
		a.event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":%d}}}`, promptTokens, cached))
		a.end()
	}
	return s
}

// A second run with the same seed hit the prefix cache: TTFT 49 times better → the run's salt makes every prompt new, and
// the hit rate is in the result.
func TestField_vllm54227_SecondRunHitsNoCache(t *testing.T) {
	t.Parallel()
	for _, salt := range []string{"run", "none"} {
		s := caching(t)
		var rates []float64
		for _, name := range []string{"first", "second"} {
			m := sweep(t, s, 1, 6, func(j *job) { j.Run, j.Plan.Workload.Salt, j.Plan.Workload.Seed = name, salt, 7 })
			rates = append(rates, *m.sum.PrefixHitRate)
		}
		if rates[0] != 0 || (salt == "run") != (rates[1] == 0) || salt == "none" && rates[1] != 100 {
			t.Errorf("salt %s: hit rates %v %%", salt, rates)
		}
	}
}

// Warm-up and repeats with the prompts of the measurement: throughput 2.32 times too high → a prompt that comes again comes
// with another salt at its front, warm-up and repeats of the data included.
func TestField_vllm52884_WarmupAndRepeatsHitNoCache(t *testing.T) {
	t.Parallel()
	s := caching(t)
	m := sweep(t, s, 2, 20, file(t, "jsonl", `{"prompt":"one"}`+"\n"+`{"prompt":"two"}`+"\n"), func(j *job) { j.Plan.Protocol.Sweep.Warmup.Requests = 6 })
	first := map[string]bool{}
	for _, a := range s.seen() {
		word, _, _ := strings.Cut(a.prompt(), " ")
		if first[word] {
			t.Errorf("two prompts begin with %q", word)
		}
		first[word] = true
	}
	if *m.sum.CachedTokens != 0 || !m.noted("begun again") || len(first) != len(m.all)+6 {
		t.Errorf("%d cached tokens, %d prompts of %d, notes %q", *m.sum.CachedTokens, len(first), len(m.all)+6, m.Notes)
	}
}

// Points of one run shared a warm cache with the one before → the salt is of the point too.
func TestField_mlperfE399_PointsShareNoPrompt(t *testing.T) {
	t.Parallel()
	s := caching(t)
	for _, id := range []string{"c1", "c2"} {
		m := sweep(t, s, 1, 5, func(j *job) { j.Point.ID = id })
		if *m.sum.CachedTokens != 0 {
			t.Errorf("point %s: %d cached tokens", id, *m.sum.CachedTokens)
		}
	}
}

// A prompt of length 1 came out empty, and lengths went unchecked → no prompt is empty, and the length that counts is what
// the server says of each request.
func TestField_vllm10847_PromptLengthIsTheServers(t *testing.T) {
	t.Parallel()
	for _, words := range []plan.Length{1, 2, 300} {
		s := newServer(t, func(a *reply) {
			a.head()
			a.token(1)
			a.finish("stop")
			a.event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, len(strings.Fields(a.prompt()))))
			a.end()
		})
		s.usage = "final"
		m := sweep(t, s, 1, 3, func(j *job) { j.Plan.Workload.InputLen, j.Plan.Workload.Salt = words, "none" })
		for i, r := range m.all {
			if n := len(strings.Fields(s.seen()[i].prompt())); n != int(words) || r.InputTokens != int64(n) {
				t.Errorf("asked for %d words, sent %d, recorded %d", words, n, r.InputTokens)
			}
		}
	}
}

// An unknown field got 400 for every request, without a word why → it is asked once, dropped, and named; and what a server
// says against a request is kept.
func TestField_toolevalbench118_RefusedFieldIsDropped(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	s.usage = "final"
	s.probe = func(a *reply) {
		if options, _ := a.body["stream_options"].(map[string]any); options["continuous_usage_stats"] != nil {
			a.status(400, "", `{"error":{"message":"extra fields not permitted: continuous_usage_stats"}}`)
			return
		}
		a.good(1)
	}
	m := sweep(t, s, 2, 6)
	if len(m.Refused) != 1 || m.Refused[0].Field != "stream_options.continuous_usage_stats" || m.outcomes()[record.OK] != len(m.all) {
		t.Errorf("refused %q, %v", m.Refused, m.outcomes())
	}
	for _, a := range s.seen() {
		if strings.Contains(string(a.raw), "continuous") {
			t.Errorf("sent all the same: %s", a.raw)
		}
	}
	s.script = func(a *reply) { a.status(400, "", `{"error":{"message":"the model is not loaded"}}`) }
	for _, r := range sweep(t, s, 1, 2).all {
		if r.Outcome != record.HTTPStatus || r.Status != 400 || !strings.Contains(r.Error, "the model is not loaded") {
			t.Errorf("%s: %s", r.Outcome, r.Error)
		}
	}
}

// A key of the environment landed in the result file → a token stands in no file of a point, even where the server says it back.
func TestField_llminferencebench45_NoSecretInFiles(t *testing.T) {
	t.Parallel()
	const token = "sk-a1b2c3d4e5f6"
	s := newServer(t, func(a *reply) {
		if got := a.header.Get("Authorization"); got != "Bearer "+token {
			t.Errorf("Authorization %q", got)
		}
		if a.n%2 == 0 {
			a.status(401, "", `{"error":"no such key: `+token+`"}`)
			return
		}
		a.head()
		a.event(`{"id":"` + token + `","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"` + token + `"}]}`)
		a.event(`{"error":{"message":"bad key ` + token + `"}}`)
		a.end()
	})
	m := sweep(t, s, 1, 4, func(j *job) { j.Access.Token = token })
	err := filepath.WalkDir(m.job.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), token) {
			t.Errorf("%s holds the token", d.Name())
		}
		return err
	})
	if err != nil || strings.Contains(fmt.Sprint(m.rec, m.Measurement, m.reasons), token) {
		t.Errorf("the token is in the recording as it is read, or %v", err)
	}
}

// prompts is what the data of a seed begins with.
func prompts(t *testing.T) string {
	src, err := dataset.Open(t.Context(), dataset.Config{Kind: "synthetic", Seed: 7, InputLen: 40, Turns: 2})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for range 20 {
		c, err := src.Next()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, c.ID, c.Turns)
	}
	return out.String()
}

const childsFile = "ASSAY_FIELD_PROMPTS"

// A seed that went through a hash of the process made each run another one → the same seed gives the same prompts in
// another process.
func TestField_vllm46_SeedsAreStableAcrossProcesses(t *testing.T) {
	if path := os.Getenv(childsFile); path != "" {
		if err := os.WriteFile(path, []byte(prompts(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prompts")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestField_vllm46_")
	child.Env = append(os.Environ(), childsFile+"="+path)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(path)
	if here := prompts(t); err != nil || string(b) != here || len(here) < 1000 {
		t.Errorf("another process has other prompts for the same seed; %v", err)
	}
}

// Two conversations of three client turns, which share a system prompt; rows as MLPerf Endpoints writes them.
func conversations() string {
	var out strings.Builder
	for _, id := range []string{"c-1", "c-2"} {
		fmt.Fprintf(&out, `{"conversation_id":%q,"turn":1,"role":"user","system":"You fix bugs.","content":"Run the tests","tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}],"max_completion_tokens":5}`+"\n", id)
		fmt.Fprintf(&out, `{"conversation_id":%q,"turn":2,"role":"assistant","tool_calls":[{"id":"k1","type":"function","function":{"name":"bash","arguments":"{}"}}]}`+"\n", id)
		fmt.Fprintf(&out, `{"conversation_id":%q,"turn":3,"role":"tool","tool_results":[{"tool_call_id":"k1","content":"1 failed"}],"max_completion_tokens":9}`+"\n", id)
		fmt.Fprintf(&out, `{"conversation_id":%q,"turn":4,"role":"assistant","content":"One test fails."}`+"\n", id)
		fmt.Fprintf(&out, `{"conversation_id":%q,"turn":5,"role":"user","content":"Fix it"}`+"\n", id)
	}
	return out.String()
}

// agentic runs both conversations, each once or more.
func agentic(t *testing.T, s *server, n int, edits ...edit) measured {
	t.Helper()
	return sweep(t, s, 1, n, append([]edit{file(t, "agentic", conversations())}, edits...)...)
}

func messages(a *reply) []any {
	list, _ := a.body["messages"].([]any)
	return list
}

// Rows read as the growth of a conversation when they were the whole, or the other way round → each request holds all that was
// said before it, as recorded, and is a strict extension of the one before; its limit is the row's.
func TestField_dynamo14254_ContextsGrowAsRecorded(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	agentic(t, s, 6, func(j *job) { j.Plan.Workload.Salt = "none"; j.Plan.Workload.Sampling.MaxTokens = 7 })
	seen := s.seen()
	lengths, limits := []int{}, []float64{}
	for i, a := range seen {
		lengths, limits = append(lengths, len(messages(a))), append(limits, a.body["max_tokens"].(float64))
		if i%3 == 0 {
			continue
		}
		before, now := messages(seen[i-1]), messages(a)
		if fmt.Sprint(now[:len(before)]) != fmt.Sprint(before) {
			t.Errorf("request %d does not begin with the one before it", i)
		}
	}
	if !slices.Equal(lengths, []int{2, 4, 6, 2, 4, 6}) || limits[0] != 5 || limits[1] != 7 {
		t.Errorf("messages %v, limits %v; the plan's ceiling is 7", lengths, limits)
	}
}

// Later turns without tools skipped the server's tool parser → the same tools go with every turn.
func TestField_mlperfPR314_ToolsOnEveryTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	agentic(t, s, 6)
	for i, a := range s.seen() {
		if tools, _ := json.Marshal(a.body["tools"]); !strings.Contains(string(tools), "bash") {
			t.Errorf("request %d has the tools %s", i, tools)
		}
	}
}

// Conversations that share a system prompt warmed each other's cache → the salt of a session is around it, on every turn the
// same, and on a repeat another.
func TestField_mlperfE312_SaltPerTrajectory(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	agentic(t, s, 12, func(j *job) { j.Plan.Workload.Salt = "session" })
	begins := map[string]int{}
	for _, a := range s.seen() {
		system, _ := messages(a)[0].(map[string]any)["content"].(string)
		begins[system]++
		if !strings.Contains(system, "You fix bugs.") || system == "You fix bugs." {
			t.Errorf("the system prompt is %q", system)
		}
	}
	if len(begins) != 4 {
		t.Errorf("%d beginnings of 4 conversations: %v", len(begins), begins)
	}
}

// The session's id went out in one fixed header, or not on every turn → each turn of a conversation carries it, and a repeat
// is another session.
func TestField_mlperfPR434_SessionHeaderOnEveryTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	headers := []string{"X-Session-ID", "X-Correlation-ID", "X-Route"}
	m := agentic(t, s, 12, func(j *job) { j.Plan.Client.RoutingHeaders = headers })
	sessions := map[string]int{}
	for i, a := range s.seen() {
		sessions[m.all[i].Session]++
		for _, name := range headers {
			if id := a.header.Get(name); m.all[i].Session != id || id == "" || m.all[i].Turn != i%3 {
				t.Errorf("request %d: %s says %q, the recording %q turn %d", i, name, id, m.all[i].Session, m.all[i].Turn)
			}
		}
	}
	if len(sessions) != 4 {
		t.Errorf("sessions %v, want 4 of 3 turns", sessions)
	}
}

// A turn that failed was swallowed, or counted its followers as failures → the conversation ends there, the turns that were
// never sent are said, the slot takes the next one.
func TestField_mlperfE232_FailedTurnEndsItsConversation(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		if a.n == 1 {
			a.status(500, "", "boom")
			return
		}
		a.good(1)
	})
	m := agentic(t, s, 5)
	turns := []int{}
	for _, r := range m.all {
		turns = append(turns, r.Turn)
	}
	if n := m.outcomes(); !slices.Equal(turns, []int{0, 1, 0, 1, 2}) || n[record.HTTPStatus] != 1 || n[record.OK] != 4 {
		t.Errorf("turns %v, %v", turns, n)
	}
	if !m.noted("1 turns were not sent") || m.sum.RequestsFailed != 1 {
		t.Errorf("%d failed, notes %q", m.sum.RequestsFailed, m.Notes)
	}
}

// A field at another place of the body made two clients' figures differ, and nobody saw the bodies → that of the first measured
// request is kept in the run's folder, to the byte.
func TestField_aiperf339_SentBodyIsKept(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	m := sweep(t, s, 1, 3, func(j *job) {
		j.Plan.Protocol.Sweep.Warmup.Requests = 2
		j.Plan.Workload.Sampling.IgnoreEOS = true
	})
	kept, err := os.ReadFile(filepath.Join(m.job.Dir, filepath.FromSlash(m.FirstBody)))
	if sent := s.seen()[2].raw; err != nil || string(kept) != string(sent) || !strings.Contains(string(sent), `"ignore_eos":true`) {
		t.Errorf("kept %s, sent %s; %v", kept, sent, err)
	}
}

// A tokenizer that changed made prompts five times longer than asked for, unseen → what the server counts is held against what
// was asked for, and the result says where it differs.
func TestField_vllm42532_OtherLengthsThanAskedFor(t *testing.T) {
	t.Parallel()
	for _, grown := range []int{5, 1} {
		s := newServer(t, func(a *reply) {
			a.head()
			a.token(1)
			a.finish("stop")
			a.event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, 300*grown))
			a.end()
		})
		s.usage = "final"
		m := sweep(t, s, 1, 3, func(j *job) { j.Plan.Workload.InputLen, j.Plan.Workload.Lengths = 300, "tokens" })
		if told := m.noted("tokens asked for"); told != (grown == 5) || *m.sum.InputTokens != 300*int64(grown*m.sum.RequestsCompleted) {
			t.Errorf("prompts %d times as long: notes %q, %d tokens in", grown, m.Notes, *m.sum.InputTokens)
		}
	}
}

// A trace's output lengths taken for minima, and its rows for growth of a session → a row is one request of its own length at its
// own instant, scaled by the point's speed; its output length is a limit.
func TestField_dynamo14254_RowsOfATraceAreWhole(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	rows := `{"timestamp":1000,"input_length":12,"output_length":5,"hash_ids":[1]}
{"timestamp":1030,"input_length":40,"output_length":7,"hash_ids":[1,2]}
{"timestamp":1090,"input_length":3,"output_length":2,"hash_ids":[3]}
`
	p := plan.Plan{Protocol: plan.Protocol{Serve: &plan.Serve{Arrival: "trace"}}}
	m := run(t, s, p, plan.Point{ID: "x2", Phase: plan.PhaseServe, Speed: 2}, file(t, "trace", rows), func(j *job) {
		j.Plan.Workload.Salt, j.Plan.Workload.Sampling.MaxTokens = "none", 100
	})
	if gaps := intended(m.all); !slices.Equal(gaps, []int64{15_000, 30_000}) {
		t.Errorf("gaps %v µs; recorded are 30 and 60 ms, at twice the speed", gaps)
	}
	for i, r := range m.all {
		a := s.answered(r)
		words, limit := len(strings.Fields(a.prompt())), a.body["max_tokens"]
		if words != []int{12, 40, 3}[i] || limit != []float64{5, 7, 2}[i] || len(messages(a)) != 1 {
			t.Errorf("row %d: %d words, limit %v, %d messages", i, words, limit, len(messages(a)))
		}
	}
}
