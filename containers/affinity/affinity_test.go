package affinity

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
)

// machine has two memory nodes with CPUs, a third without, and one CPU that is not up.
func machine(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"cpu/online": "0-6\n", "node/online": "0-2\n", "node/node0/cpulist": "0-3\n", "node/node1/cpulist": "4-6\n", "node/node2/cpulist": "\n",
	} {
		file := filepath.Join(root, "sys/devices/system", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFind(t *testing.T) {
	root := machine(t)
	for _, c := range []struct {
		name  string
		asked Asked
		want  Place
		code  string
	}{
		{"nothing", Asked{}, Place{}, ""},
		{"CPUs", Asked{CPUs: "5,0-1,1"}, Place{CPUs: []int{0, 1, 5}}, ""},
		{"a node brings its CPUs", Asked{NUMA: "1"}, Place{CPUs: []int{4, 5, 6}, Nodes: []int{1}}, ""},
		{"a node and CPUs", Asked{CPUs: "0", NUMA: "1"}, Place{CPUs: []int{0}, Nodes: []int{1}}, ""},
		{"a node without CPUs", Asked{NUMA: "2"}, Place{Nodes: []int{2}}, ""},
		{"two nodes", Asked{NUMA: "1,0"}, Place{CPUs: []int{0, 1, 2, 3, 4, 5, 6}, Nodes: []int{0, 1}}, ""},
		{"those of the GPUs", Asked{NUMA: "gpu", GPUs: []int{1}}, Place{CPUs: []int{4, 5, 6}, Nodes: []int{1}}, ""},
		{"GPUs that do not tell", Asked{NUMA: "gpu"}, Place{}, "preflight.numa_unavailable"},
		{"a CPU that is not up", Asked{CPUs: "6-7"}, Place{CPUs: []int{6, 7}}, "preflight.cpus_unavailable"},
		{"no such node", Asked{NUMA: "3"}, Place{}, "preflight.numa_unavailable"},
		{"no list", Asked{CPUs: "3-1"}, Place{}, "plan.cpus_invalid"},
		{"no list of nodes", Asked{NUMA: "a"}, Place{}, "plan.numa_invalid"},
	} {
		got, err := Find(root, c.asked)
		if c.code != "" {
			enginetest.WantFault(t, err, c.code)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" && c.code == "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
	_, err := Find(root, Asked{CPUs: "6-9"})
	enginetest.WantFault(t, err, "preflight.cpus_unavailable", "CPU 7-9", "0-6")
}

// TestStart starts a real program and reads what the kernel says of it.
func TestStart(t *testing.T) {
	online, err := read("/", "sys/devices/system/cpu/online")
	if err != nil {
		t.Skip(err)
	}
	allowed := status(t, "self", "Cpus_allowed_list")
	mine, err := Parse(allowed)
	if err != nil || len(mine) == 0 {
		t.Fatalf("%q, %v", allowed, err)
	}
	last := mine[len(mine)-1]
	place, err := Find("/", Asked{CPUs: strconv.Itoa(last), NUMA: nodeHere(t)})
	if err != nil {
		t.Fatalf("%v (online: %v)", err, online)
	}
	var out bytes.Buffer
	cmd := exec.Command("cat", "/proc/self/status", "/proc/self/numa_maps")
	cmd.Stdout = &out
	if err := place.Start(cmd.Run); err != nil {
		t.Fatal(err)
	}
	if want := "Cpus_allowed_list:\t" + strconv.Itoa(last) + "\n"; !strings.Contains(out.String(), want) {
		t.Errorf("the program is not kept to CPU %d:\n%s", last, out.String())
	}
	if len(place.Nodes) > 0 && !strings.Contains(out.String(), " bind:"+Format(place.Nodes)+" ") {
		t.Errorf("its memory is not kept to node %s:\n%s", Format(place.Nodes), out.String())
	}
	awaitThreads(t, allowed)
}

// awaitThreads waits until every thread of this program may run on the same CPUs as before: the one that was kept to a place ends with its work.
func awaitThreads(t *testing.T, allowed string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	kept := "?"
	for end := time.Now().Add(time.Minute); kept != "" && time.Now().Before(end); <-tick.C {
		kept = keptThread(t, allowed)
	}
	if kept != "" {
		t.Errorf("thread %s of this program is still kept to the place", kept)
	}
}

// keptThread is a thread of this program that may not run on all of the CPUs, "" where there is none.
func keptThread(t *testing.T, allowed string) string {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range threads {
		b, err := os.ReadFile("/proc/self/task/" + e.Name() + "/status")
		if err == nil && !strings.Contains(string(b), "Cpus_allowed_list:\t"+allowed+"\n") { // else it has ended
			return e.Name()
		}
	}
	return ""
}

// nodeHere is a memory node of this machine, "" where the kernel has none or does not show a program's policy.
func nodeHere(t *testing.T) string {
	t.Helper()
	nodes, err := read("/", "sys/devices/system/node/online")
	if _, shown := os.Stat("/proc/self/numa_maps"); err != nil || shown != nil || len(nodes) == 0 {
		return ""
	}
	return strconv.Itoa(nodes[0])
}

func status(t *testing.T, pid, key string) string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no %s", key)
	return ""
}

func TestStartPassesErrorsOn(t *testing.T) {
	failed := errors.New("no program")
	if err := (Place{CPUs: []int{0}}).Start(func() error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if err := (Place{CPUs: []int{4000}}).Start(func() error { return nil }); err == nil {
		t.Error("a CPU that is not there is taken")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0", "0-31,64-95", "3-1", "", "0-99999999999", "1,,2", " 1 , 2-3 ", "-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		numbers, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(Format(numbers))
		if err != nil || !cmp.Equal(numbers, again) {
			t.Errorf("%q: %v, %v, %v", text, numbers, again, err)
		}
	})
}
