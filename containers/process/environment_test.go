package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/containers/instance"
	"assay/containers/launch"
	"assay/containers/mark"
)

func TestHandedDown(t *testing.T) {
	got := handedDown([]string{"PATH=/bin", "HF_TOKEN=x", "CUDA_VISIBLE_DEVICES=0", "LC_ALL=C", "EDITOR=vi", "NVIDIA_API_KEY=x", "PATHS=x", "NCCL_DEBUG=a=b"})
	if d := cmp.Diff([]string{"PATH=/bin", "CUDA_VISIBLE_DEVICES=0", "LC_ALL=C", "NCCL_DEBUG=a=b"}, got); d != "" {
		t.Error(d)
	}
}

// twoGPUs is the root of a machine with two NVIDIA GPUs.
func twoGPUs(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for i, address := range []string{"0000:19:00.0", "0000:3b:00.0"} {
		digit := string(rune('0' + i))
		for name, text := range map[string]string{
			"sys/bus/pci/devices/" + address + "/vendor": "0x10de\n", "sys/bus/pci/devices/" + address + "/class": "0x030200\n",
			"proc/driver/nvidia/gpus/" + address + "/information": "GPU UUID: \t GPU-" + digit + "\nDevice Minor: \t " + digit + "\n",
			"dev/nvidia" + digit: "",
		} {
			file := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("../../../bus/pci/drivers/nvidia", filepath.Join(root, "sys/bus/pci/devices", address, "driver")); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestGPUsOfAProgram: with server.gpus the program sees the chosen GPUs, whatever this program was started with; without, it sees what it sees.
func TestGPUsOfAProgram(t *testing.T) {
	own := []string{"PATH=/bin", "CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=FASTEST_FIRST", "ROCR_VISIBLE_DEVICES=0", "HIP_VISIBLE_DEVICES=0", "GPU_DEVICE_ORDINAL=0",
		"NVIDIA_VISIBLE_DEVICES=all", "CUDA_HOME=/cuda"}
	root := twoGPUs(t)
	for gpus, want := range map[string][]string{
		"":     {"PATH=/bin", "CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=FASTEST_FIRST", "ROCR_VISIBLE_DEVICES=0", "HIP_VISIBLE_DEVICES=0", "GPU_DEVICE_ORDINAL=0", "NVIDIA_VISIBLE_DEVICES=all", "CUDA_HOME=/cuda", "A=b"},
		"1":    {"PATH=/bin", "CUDA_HOME=/cuda", "CUDA_VISIBLE_DEVICES=GPU-1", "A=b"},
		"1,0":  {"PATH=/bin", "CUDA_HOME=/cuda", "CUDA_VISIBLE_DEVICES=GPU-1,GPU-0", "A=b"},
		"none": {"PATH=/bin", "CUDA_HOME=/cuda", "CUDA_VISIBLE_DEVICES=", "A=b"},
	} {
		s := instance.Spec{GPUs: gpus, Env: map[string]string{"A": "b"}}
		terms, err := launch.ForProcess(root, launch.Asked{GPUs: gpus, Env: s.Env})
		if err != nil {
			t.Fatal(err)
		}
		m := mark.Mark{Owner: "o", Run: "r", Role: "server"}
		c := child{spec: s, terms: terms, mark: m}
		if d := cmp.Diff(append(want, m.Environ()...), c.environ(own)); d != "" {
			t.Errorf("%q: %s\n%s", gpus, strings.Join(own, " "), d)
		}
	}
}
