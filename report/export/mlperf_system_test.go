package export

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes"
	"assay/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

// mlperfKeys are the keys that the checker of MLPerf Endpoints knows of this part, with the JSON type it takes; those with a star must be there.
func mlperfKeys() map[string]map[string]string {
	return map[string]map[string]string{
		"system": {"system_name": "string*", "system_size": "string*", "system_node_ensemble_count": "int*", "system_node_ensemble_total": "int*", "node_types": "list*"},
		"node": {
			"system_node_ensemble_id": "int", "number_of_nodes": "int", "host_processor_model_name": "string", "host_processors_per_node": "int", "host_processor_core_count": "int",
			"host_processor_vcpu_count": "int", "host_memory_capacity": "string", "host_memory_configuration": "string*", "accelerator_info": "list", "host_network_card_count": "string*",
			"host_networking": "string", "host_storage_capacity": "string", "host_storage_type": "string", "hw_notes": "string", "driver": "string*", "operating_system": "string",
			"filesystem": "string*", "other_software_stack": "string",
		},
		"accelerator": {
			"accelerator_model_name": "string", "accelerators_per_node": "int", "accelerator_memory_capacity": "string", "accelerator_memory_type": "string",
			"accelerator_interconnect": "string", "accelerator_host_interconnect": "string",
		},
	}
}

// checkTypes holds an object against its keys.
func checkTypes(t *testing.T, what string, o map[string]any) {
	t.Helper()
	known := mlperfKeys()[what]
	for key, v := range o {
		got := "list"
		switch v := v.(type) {
		case string:
			if got = "string"; v == "" || strings.Contains(v, "N/A") {
				t.Errorf("%s.%s is %q", what, key, v)
			}
		case json.Number:
			if got = "int"; strings.ContainsAny(v.String(), ".eE-") || v == "0" && key != "system_node_ensemble_id" {
				t.Errorf("%s.%s is %s", what, key, v)
			}
		}
		if want := strings.TrimSuffix(known[key], "*"); got != want {
			t.Errorf("%s.%s is a %s, the checker takes %q", what, key, got, want)
		}
	}
	for key, typ := range known {
		if _, there := o[key]; !there && strings.HasSuffix(typ, "*") {
			t.Errorf("%s.%s must be there", what, key)
		}
	}
}

// TestMLPerfSystem writes the description of real and made machines: the keys and types of the checker, and one whole document.
func TestMLPerfSystem(t *testing.T) {
	hosts, err := filepath.Glob("../../probes/testdata/hosts/*-*")
	if err != nil || len(hosts) < 6 {
		t.Fatalf("%v %v", hosts, err)
	}
	for _, dir := range append(hosts, "") {
		s := probes.SUT{Accelerators: probes.List[probes.Accelerator]{Unknown: "not read"}}
		if dir != "" {
			s = readHost(t, dir)
		}
		var b bytes.Buffer
		if err := MLPerfSystem(&b, s, result.Result{Plan: json.RawMessage(`{"model":{"path":"/mnt/llm_data/model"}}`)}); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Nodes []map[string]any `json:"node_types"`
		}
		var all map[string]any
		decode(t, b.Bytes(), &doc)
		decode(t, b.Bytes(), &all)
		checkTypes(t, "system", all)
		for _, node := range doc.Nodes {
			checkTypes(t, "node", node)
			list, _ := node["accelerator_info"].([]any)
			for _, a := range list {
				checkTypes(t, "accelerator", a.(map[string]any))
			}
			if _, told := node["accelerator_info"]; told != (s.Accelerators.Unknown == "") {
				t.Errorf("%s: accelerator_info is there %v, the list is unknown %q", dir, told, s.Accelerators.Unknown)
			}
		}
		if strings.HasSuffix(dir, "bare-metal-mi300x") {
			compareGolden(t, "testdata/mlperf-system.json", b.Bytes())
		}
	}
}

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatal(err)
	}
}

func readHost(t *testing.T, dir string) probes.SUT {
	t.Helper()
	h, done, err := probes.FromCapture(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = done() })
	return probes.Read(t.Context(), h, probes.Program{})
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew)\n%s", name, diff)
	}
}

// TestMLPerfFilesystem: a model below a bind mount lies on what is mounted there.
func TestMLPerfFilesystem(t *testing.T) {
	fs := func(summary string, places ...string) probes.Filesystem {
		return probes.Filesystem{Mount: probes.Known(places[0], "t"), Mounts: probes.Known(places, "t"), Summary: probes.Known(summary, "t"), Bytes: probes.Known(int64(len(summary)), "t")}
	}
	s := probes.Storage{Filesystems: probes.List[probes.Filesystem]{Items: []probes.Filesystem{fs("EXT4", "/"), fs("XFS on LVM", "/mnt/data", "/srv/models")}}}
	for model, want := range map[string]string{"/srv/models/llm": "XFS on LVM", "/srv/models": "XFS on LVM", "/srv/modelsX/llm": "EXT4", "": "XFS on LVM"} {
		if got := filesystem(s, model); got != want {
			t.Errorf("%q lies on %s, want %s", model, got, want)
		}
	}
}

// TestMLPerfAccelerators: kinds are listed apart with their numbers, and links as device and slot can hold them.
func TestMLPerfAccelerators(t *testing.T) {
	gpu := func(name string, slot float64) probes.Accelerator {
		var a probes.Accelerator
		a.Name, a.VRAMBytes, a.MemoryType, a.NVLinks = probes.Known(name, "t"), probes.Known(int64(81559<<20), "t"), probes.Known("HBM3", "t"), probes.Known(18, "t")
		a.Link.GTS, a.Link.MaxGTS, a.Link.SlotMaxGTS, a.Link.Width = probes.Known(2.5, "t"), probes.Known(32.0, "t"), probes.Known(slot, "t"), probes.Known(16, "t")
		return a
	}
	var s probes.SUT
	s.Interconnect.Kind = probes.Known("nvlink", "t")
	s.Accelerators.Items = []probes.Accelerator{gpu("NVIDIA H100 80GB HBM3", 32), gpu("NVIDIA H100 80GB HBM3", 32), gpu("NVIDIA H100 80GB HBM3", 16)}
	for i := range s.Accelerators.Items {
		s.Accelerators.Items[i].Kind = probes.Known("discrete", "t")
	}
	s.Accelerators.Items = append(s.Accelerators.Items, probes.Accelerator{Kind: probes.Known("integrated", "t")}) // which is set aside
	b, err := json.Marshal(acceleratorInfo(s))
	if err != nil {
		t.Fatal(err)
	}
	const card = `{"accelerator_model_name":"NVIDIA H100 80GB HBM3","accelerators_per_node":N,"accelerator_memory_capacity":"80 GB","accelerator_memory_type":"HBM3","accelerator_interconnect":"NVLink (18 links)","accelerator_host_interconnect":"PCIe GenG x16"}`
	want := "[" + strings.NewReplacer("N,", "2,", "GenG", "Gen5").Replace(card) + "," + strings.NewReplacer("N,", "1,", "GenG", "Gen4").Replace(card) + "]"
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}
