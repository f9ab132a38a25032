package probes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixtures is the folder of public captures that lies beside a checkout of the project; tests that need it are skipped without it.
const fixtures = "../../shared/fixtures"

// fixture is a public capture of which EXPECTED.json knows values: where its files go in a capture, and what is not compared.
type fixture struct {
	name     string
	tree     map[string]string                                 // folder of the fixture, "." for all of it → path in the capture
	commands map[string]string                                 // command → file of the fixture, "." when the fixture is that file
	made     func(t *testing.T, from string) map[string]string // command → its output, made of a capture that holds it as text for people
	apart    string                                            // why it is not read here; it names the test that does
	skip     map[string]string                                 // key of EXPECTED.json → why no fact of the SUT answers it
}

// captures is every set of EXPECTED.json. An area has a file of its own: its fixtures, and how their values are found in a SUT.
func captures() []fixture {
	return slices.Concat(amdFixtures(), toolFixtures(), nvidiaFixtures(), systemFixtures())
}

// values says how a value of EXPECTED.json is found in a SUT, by its key.
func values(t *testing.T) map[string]func(SUT) any {
	t.Helper()
	all := gpuValues()
	for _, area := range []map[string]func(SUT) any{amdValues(), toolValues(), nvidiaValues(), systemValues()} {
		for key, find := range area {
			if all[key] != nil {
				t.Errorf("two areas find %s", key)
			}
			all[key] = find
		}
	}
	return all
}

// gpuValues are those that every vendor's GPUs have.
func gpuValues() map[string]func(SUT) any {
	count := func(s SUT) any { return float64(len(s.Accelerators.Items)) }
	return map[string]func(SUT) any{
		"gpus":            count,
		"attached":        count,
		"driver":          ofFirst(func(a Accelerator) any { return value(a.DriverVersion) }),
		"vram_bytes":      ofFirst(func(a Accelerator) any { return value(a.VRAMBytes) }),
		"memory_mib":      ofFirst(func(a Accelerator) any { return mebibytes(a.VRAMBytes) }),
		"power_cap_w":     ofFirst(func(a Accelerator) any { return value(a.PowerCapW) }),
		"limit_w":         ofFirst(func(a Accelerator) any { return value(a.PowerCapW) }),
		"power_default_w": ofFirst(func(a Accelerator) any { return value(a.PowerDefaultW) }),
		"default_w":       ofFirst(func(a Accelerator) any { return value(a.PowerDefaultW) }),
		"power_cap_max_w": ofFirst(func(a Accelerator) any { return value(a.PowerMaxW) }),
		"max_w":           ofFirst(func(a Accelerator) any { return value(a.PowerMaxW) }),
		"power_cap_min_w": ofFirst(func(a Accelerator) any { return value(a.PowerMinW) }),
		"min_w":           ofFirst(func(a Accelerator) any { return value(a.PowerMinW) }),
		"capped":          ofFirst(func(a Accelerator) any { return a.PowerCapW.Value < a.PowerDefaultW.Value }),
	}
}

// ofFirst asks the first GPU.
func ofFirst(find func(Accelerator) any) func(SUT) any {
	return func(s SUT) any {
		if len(s.Accelerators.Items) == 0 {
			return "no accelerator: " + s.Accelerators.Unknown
		}
		return find(s.Accelerators.Items[0])
	}
}

// ofEach asks every GPU.
func ofEach(find func(Accelerator) any) func(SUT) any {
	return func(s SUT) any {
		var list []any
		for _, a := range s.Accelerators.Items {
			list = append(list, find(a))
		}
		return list
	}
}

func mebibytes(f Fact[int64]) any {
	if v, ok := f.Get(); ok {
		return float64(v >> 20)
	}
	return nil
}

// host makes a capture of a fixture and opens it.
func (f fixture) host(t *testing.T) Host {
	t.Helper()
	from := filepath.Join(fixtures, f.name)
	if _, err := os.Stat(from); err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	dir := t.TempDir()
	for sub, to := range f.tree {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(from, sub))); err != nil {
			t.Fatal(err)
		}
	}
	outputs := map[string]string{}
	for line, file := range f.commands {
		outputs[line] = content(t, filepath.Join(from, file))
	}
	if f.made != nil {
		outputs = f.made(t, from)
	}
	writeCommands(t, dir, outputs)
	return openCapture(t, dir)
}

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// writeCommands makes the part of a capture that holds what programs printed.
func writeCommands(t *testing.T, dir string, outputs map[string]string) {
	t.Helper()
	type command struct {
		Argv   []string `json:"argv"`
		Stdout string   `json:"stdout"`
	}
	list := []command{}
	for line, output := range outputs {
		c := command{strings.Fields(line), "cmd/" + strings.Map(func(r rune) rune {
			if r == ' ' || r == '/' {
				return '_'
			}
			return r
		}, line)}
		write(t, filepath.Join(dir, c.Stdout), output)
		list = append(list, c)
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "commands.json"), string(b))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func openCapture(t *testing.T, name string) Host {
	t.Helper()
	h, done, err := FromCapture(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// value gives a fact as JSON has it, nil when it has none.
func value[T any](f Fact[T]) any {
	if !f.IsKnown() {
		return nil
	}
	b, err := json.Marshal(f.Value)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	return v
}

// expectations is EXPECTED.json: set → key → value.
func expectations(t *testing.T) map[string]map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, "EXPECTED.json"))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPublicCaptures reads captures of real machines and compares every value that is known about them.
func TestPublicCaptures(t *testing.T) {
	all, find := expectations(t), values(t)
	listed := map[string]bool{}
	for _, f := range captures() {
		if listed[f.name] || all[f.name] == nil {
			t.Errorf("%s is listed twice, or EXPECTED.json does not know it", f.name)
		}
		listed[f.name] = true
		if f.apart == "" {
			t.Run(f.name, func(t *testing.T) { f.compare(t, all[f.name], find) })
		}
	}
	for name := range all {
		if !listed[name] {
			t.Errorf("nobody reads %s", name)
		}
	}
}

// compare reads a fixture and looks for each of its values; those that no fact answers are named with a reason.
func (f fixture) compare(t *testing.T, want map[string]any, find map[string]func(SUT) any) {
	t.Helper()
	s := Read(t.Context(), f.host(t), Program{})
	if why, broken := want["error"]; broken {
		if s.Accelerators.Unknown == "" || len(s.Accelerators.Items) > 0 {
			t.Errorf("%v, but %d accelerators were read", why, len(s.Accelerators.Items))
		}
		return
	}
	for key, expected := range want {
		switch {
		case f.skip[key] != "":
		case find[key] == nil:
			t.Errorf("%s is neither looked for nor skipped for a reason", key)
		default:
			if diff := cmp.Diff(expected, find[key](s)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", key, diff)
			}
		}
	}
	for key := range f.skip {
		if _, there := want[key]; !there {
			t.Errorf("%s is skipped, but no such value is known", key)
		}
	}
}
