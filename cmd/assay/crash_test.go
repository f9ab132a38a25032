package main

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers/imagetest"
	"assay/result"
	"assay/store"
)

// crash is a data directory whose daemon is killed again and again while it works with a real container engine.
type crash struct {
	testProgram
	socket string
	config string
	image  string
	plan   string
	daemon *runningDaemon
	run    string                     // that is under way
	points map[string]map[string]seen // of each run: what was stored
	kills  map[string]int             // by phase
	rng    *rand.Rand
}

// seen is what must be of a stored point after every kill.
type seen struct {
	State     result.PointState
	Recording string
	TPS       float64
}

// stage is a part of a run that is aimed at, and how long it takes here without a kill.
type stage struct {
	name, point string
	took        time.Duration
}

// killsWanted is how often the daemon is killed: 200 times in CI, else less; ASSAY_KILLS says otherwise.
func killsWanted(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("ASSAY_KILLS")); err == nil {
		return n
	}
	if inCI() {
		return 200
	}
	return 16
}

// killLimit ends the kills, so that a slow machine still tells how far it came.
const killLimit = 15 * time.Minute

// TestKilledAnywhere kills the daemon at random instants of every phase of a run with a real container engine. After each start nothing
// that it started is left, no stored point is lost or changed, its run is in a state from which it goes on, and what is not its own is
// untouched. In the end a run that was killed many times is done and its archive is valid.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel() // as every test here that has an engine of its own and no figure that counts: they wait more than they work
	engine := imagetest.StartEngine(t, 0)
	c := newCrash(t, engine.Socket)
	foreign := c.foreigners()
	stages := c.measure()
	n, i, begun := killsWanted(t), 0, time.Now()
	for ; i < n && time.Since(begun) < killLimit; i++ {
		c.killIn(stages[i%len(stages)])
		c.restart(i%8 == 7)
		c.check()
		if i%25 == 0 {
			c.integrity() // and in the end
		}
		if t.Failed() {
			t.Fatalf("after kill %d in %v", i+1, stages[i%len(stages)])
		}
	}
	t.Logf("%d of %d kills in %s: %v; %d runs", i, n, time.Since(begun).Round(time.Second), c.kills, len(c.points))
	if i < n && inCI() {
		t.Errorf("only %d of %d kills within %s", i, n, killLimit)
	}
	c.finish()
	if now := c.inspect(slices.Sorted(maps.Keys(foreign))...); !maps.Equal(foreign, now) {
		t.Errorf("containers of others: before %v, after %v", foreign, now)
	}
	c.daemon.stop(syscall.SIGTERM)
	c.nothingElse(foreign)
}

func newCrash(t *testing.T, socket string) *crash {
	p := newProgram(t)
	image := imagetest.Push(t, imagetest.Registry(t), "assay/self", imagetest.Image(t, imagetest.Files{"/assay": p.bin}, "/assay", "sim"))
	c := &crash{testProgram: p, socket: socket, image: image, points: map[string]map[string]seen{}, kills: map[string]int{}, rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))}
	routers := ""
	if _, err := exec.LookPath("nginx"); err == nil {
		routers = "\nrouters: [{points: '3', kind: nginx, image: '" + imagetest.ProgramImage(t, "nginx") + "'}]"
	} else {
		skipOrFail(t, "needs nginx: %v", err)
	}
	c.plan = `apiVersion: assay/v1
name: crash
model: {name: sim-1b}
server: {engine: sim, runtime: docker, network: host, image: '` + image + `', ready: {timeout: 3m}, stop: {grace: 5s}}` + routers + `
client: {kind: native}
workload: {kind: synthetic, input_len: 16, seed: 1, sampling: {temperature: 0, max_tokens: 6, ignore_eos: true}}
protocol: {sweep: {concurrency: [1, 2, 3], requests: 6, warmup: {requests: 1}}}
telemetry: {interval: 200ms}
`
	c.config = allowHostNetwork(t)
	c.daemon = c.start()
	return c
}

// allowHostNetwork is a configuration for an engine of the test's own, which has no bridge.
func allowHostNetwork(t testing.TB) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("allow: {host_network: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (c *crash) start() *runningDaemon {
	return c.serve("--docker-host", "unix://"+c.socket, "--config", c.config)
}

// docker runs the engine's own command line: the test sees what an operator would.
func (c *crash) docker(args ...string) string {
	c.t.Helper()
	b, err := exec.Command("docker", append([]string{"--host", "unix://" + c.socket}, args...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("docker %v: %v\n%s", args, err, b)
	}
	return strings.TrimSpace(string(b))
}

// foreigners starts what must never be touched: somebody's container, and one of another data directory, whose name is like ours.
func (c *crash) foreigners() map[string]string {
	image := imagetest.HelloImage(c.t) // ours is removed in between
	c.docker("pull", "--quiet", image)
	var ids []string
	for _, more := range [][]string{{"--name", "somebody"}, {"--name", "assay-20260101T000000-other-server", "--label", "assay.owner=0123456789abcdef", "--label", "assay.run=20260101T000000-other", "--label", "assay.role=server"}} {
		args := append([]string{"run", "--detach", "--network", "none"}, more...)
		ids = append(ids, c.docker(append(args, image, "--port", "8000")...))
	}
	return c.inspect(ids...)
}

// inspect tells of containers whether they are as they were.
func (c *crash) inspect(ids ...string) map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for _, id := range ids {
		out[id] = c.docker("inspect", "--format", "{{.Name}} {{.State.Status}} {{.State.Pid}} {{.State.StartedAt}}", id)
	}
	return out
}

// measure executes a run without a kill and gives its phases with the time that each took, and the moments that are none.
func (c *crash) measure() []stage {
	c.t.Helper()
	id := c.daemon.submit(c.plan)
	c.daemon.follow(id, ended)
	doc := readDoc(c.t, c.daemon, id)
	if doc.Run.State != result.Done {
		c.t.Fatalf("a run that nobody kills is %s: %v", doc.Run.State, doc.Run.Error)
	}
	stages := []stage{{name: "submit", took: 20 * time.Millisecond}, {name: "recover", took: time.Second}}
	for _, ph := range doc.Run.Phases {
		if ph.Name != "points" { // its steps are phases of their own
			stages = append(stages, stage{ph.Name, ph.Point, time.Duration(ph.EndedUS-ph.StartedUS) * time.Microsecond})
		}
	}
	c.points[id] = pointsOf(doc)
	c.t.Logf("phases without a kill: %v", stages)
	return stages
}

// killIn goes on with the run that was killed last, or with a new one, and kills the daemon at a random instant of a stage. A run that ends
// before is killed at its end.
func (c *crash) killIn(s stage) {
	c.t.Helper()
	if s.name == "pull" {
		_ = exec.Command("docker", "--host", "unix://"+c.socket, "image", "rm", "--force", c.image).Run() // there is something to pull
	}
	c.goOn(s)
	if s.name != "submit" && s.name != "recover" {
		c.await(s)
	}
	delay := time.Duration(c.rng.Float64() * 1.1 * float64(s.took))
	<-time.After(delay)
	c.daemon.stop(syscall.SIGKILL)
	c.kills[s.name]++
	if s.name == "recover" { // what was left is found by one that is killed while it removes it
		next := c.command(context.Background(), "serve", "--listen", "127.0.0.1:0", "--docker-host", "unix://"+c.socket)
		if err := next.Start(); err != nil {
			c.t.Fatal(err)
		}
		<-time.After(time.Duration(c.rng.Float64() * float64(s.took) / 2))
		_ = next.Process.Kill()
		_ = next.Wait()
	}
}

// goOn resumes the last run when it can be, and when the stage aimed at is still to come; else it submits one.
func (c *crash) goOn(s stage) {
	c.t.Helper()
	if c.run != "" {
		doc, run := c.state()
		if run.State == result.Queued || run.State == result.Running {
			return
		}
		_, have := pointsOf(doc)[s.point]
		if run.State != result.Done && !have {
			c.daemon.call(http.MethodPost, "/api/v1/runs/"+c.run+"/resume", "", http.StatusAccepted, nil)
			return
		}
	}
	c.run = c.daemon.submit(c.plan)
	c.points[c.run] = map[string]seen{}
}

// await follows the run until a stage begins or the run ends, and remembers the points that were told.
func (c *crash) await(s stage) {
	c.t.Helper()
	c.daemon.follow(c.run, func(e result.Event) bool {
		if e.Kind == result.PointEnded && e.Result != nil {
			now := seenOf(*e.Result)
			if was, twice := c.points[c.run][e.Point]; twice && was != now {
				c.t.Errorf("point %s of run %s was measured again", e.Point, c.run)
			}
			c.points[c.run][e.Point] = now
		}
		return e.Kind == result.RunEnded || e.Kind == result.PhaseStarted && e.Phase == s.name && (s.point == "" || e.Point == s.point)
	})
}

// restart starts the daemon again; sometimes the intents of what was made are gone, as with a disk that lost the last writes: the mark alone
// must be enough. Those of what may still be in the making stay: only a machine that went down loses them, and its engine with it.
func (c *crash) restart(forget bool) {
	c.t.Helper()
	if forget {
		db := c.database()
		if _, err := db.Exec(`DELETE FROM documents WHERE kind LIKE 'intent:%' AND body LIKE '%"id":%'`); err != nil {
			c.t.Fatal(err)
		}
		db.Close()
	}
	c.daemon = c.start()
}

func (c *crash) database() *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.data, store.DatabaseName)+"?_pragma=busy_timeout(60000)")
	if err != nil {
		c.t.Fatal(err)
	}
	return db
}

// state is the run as the daemon tells it, with its result where it has one.
func (c *crash) state() (result.Result, runView) {
	c.t.Helper()
	var run runView
	c.daemon.call(http.MethodGet, "/api/v1/runs/"+c.run, "", http.StatusOK, &run)
	if !run.State.Ended() {
		return result.Result{}, run
	}
	return readDoc(c.t, c.daemon, c.run), run
}

// check looks at all that a kill could have broken.
func (c *crash) check() {
	c.t.Helper()
	doc, run := c.state()
	switch run.State {
	case result.Queued: // it had not begun: this daemon will execute it
		return
	case result.Running:
		if !strings.Contains(c.daemon.said(), `"run started" run=`+c.run) {
			c.t.Errorf("run %s is running and nobody executes it\n%s", c.run, c.daemon.said())
		}
		return
	case result.Interrupted, result.Done:
	default:
		c.t.Errorf("run %s is %s: %v\n%s", c.run, run.State, doc.Run.Error, c.daemon.said())
	}
	if left := marked(c.data); len(left) != 1 {
		c.t.Errorf("want the daemon alone, found %v", left)
	}
	if left := c.docker("ps", "--all", "--format", "{{.Names}} {{.Status}}", "--filter", "label=assay.owner="+c.owner()); left != "" {
		c.t.Errorf("containers are left: %s\n%s", left, c.daemon.said())
	}
	if open := c.intents(); len(open) > 0 {
		c.t.Errorf("intents are left: %v", open)
	}
	now := pointsOf(doc)
	for id, was := range c.points[c.run] {
		if now[id] != was {
			c.t.Errorf("point %s of run %s was %+v and is %+v", id, c.run, was, now[id])
		}
	}
	maps.Copy(c.points[c.run], now)
	for id, p := range now {
		if _, err := os.Stat(filepath.Join(c.data, "runs", c.run, recordingOf(doc, id))); err != nil {
			c.t.Errorf("point %s: %v: %v", id, p, err)
		}
	}
}

func (c *crash) owner() (owner string) {
	db := c.database()
	defer db.Close()
	if err := db.QueryRow(`SELECT owner FROM meta`).Scan(&owner); err != nil {
		c.t.Fatal(err)
	}
	return owner
}

func (c *crash) intents() (kinds []string) {
	db := c.database()
	defer db.Close()
	rows, err := db.Query(`SELECT kind FROM documents WHERE kind LIKE 'intent:%'`)
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind string
		if err := errors.Join(rows.Scan(&kind), rows.Err()); err != nil {
			c.t.Fatal(err)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// integrity asks the database itself.
func (c *crash) integrity() {
	c.t.Helper()
	db := c.database()
	defer db.Close()
	var verdict string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		c.t.Errorf("the database: %s, %v", verdict, err)
	}
}

// pointsOf are the points that were measured.
func pointsOf(doc result.Result) map[string]seen {
	out := map[string]seen{}
	for _, p := range doc.Points {
		if p.Recording != nil {
			out[p.ID] = seenOf(p)
		}
	}
	return out
}

func seenOf(p result.Point) seen {
	s := seen{State: p.State}
	if p.Recording != nil {
		s.Recording = p.Recording.SHA256
	}
	if p.Metrics != nil && p.Metrics.SystemTPS != nil {
		s.TPS = *p.Metrics.SystemTPS
	}
	return s
}

func recordingOf(doc result.Result, id string) string {
	for _, p := range doc.Points {
		if p.ID == id && p.Recording != nil {
			return p.Recording.Path
		}
	}
	return ""
}

// finish resumes the run once more and lets it be.
func (c *crash) finish() {
	c.t.Helper()
	doc, run := c.state()
	switch {
	case run.State == result.Done:
		c.run = c.daemon.submit(c.plan)
		c.points[c.run] = map[string]seen{}
		c.await(stage{name: "measure", point: "c2"})
		c.daemon.stop(syscall.SIGKILL)
		c.restart(false)
		fallthrough
	case run.State.Ended():
		c.daemon.call(http.MethodPost, "/api/v1/runs/"+c.run+"/resume", "", http.StatusAccepted, nil)
	}
	c.await(stage{name: "none"})
	doc, _ = c.state()
	if doc.Run.State != result.Done || len(pointsOf(doc)) != 3 {
		c.t.Fatalf("resumed, the run is %s with %d points: %v", doc.Run.State, len(pointsOf(doc)), doc.Run.Error)
	}
	for id, was := range c.points[c.run] {
		if pointsOf(doc)[id] != was {
			c.t.Errorf("point %s was measured again", id)
		}
	}
	if doc.Run.Verdict != result.Valid && !c.busy() {
		c.t.Errorf("resumed, the run is %s: %+v", doc.Run.Verdict, doc.Run.Reasons)
	}
	c.must(exitValid, "verify", filepath.Join(c.data, "runs", c.run, result.ArchiveName))
	c.check()
	c.integrity()
}

// nothingElse: the engine holds what it held before, and nothing more.
func (c *crash) nothingElse(foreign map[string]string) {
	c.t.Helper()
	all := strings.Fields(c.docker("ps", "--all", "--quiet", "--no-trunc"))
	slices.Sort(all)
	if want := slices.Sorted(maps.Keys(foreign)); !slices.Equal(all, want) {
		c.t.Errorf("the engine holds %v, want %v", all, want)
	}
}
