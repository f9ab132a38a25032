package probes

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slowTools is a machine with two AMD GPUs whose amd-smi takes a second for each answer. It gives the folder that it lies in too.
func slowTools(t *testing.T) (Host, string) {
	t.Helper()
	dir := t.TempDir()
	for _, card := range []string{"0000:03:00.0", "0000:04:00.0"} {
		for name, text := range map[string]string{
			"vendor": "0x1002", "device": "0x74a1", "class": "0x120000", "mem_info_vram_total": "206141652992", "hwmon/hwmon1/name": "amdgpu", "hwmon/hwmon1/power1_cap": "750000000",
		} {
			write(t, filepath.Join(dir, "sys/bus/pci/devices", card, name), text)
		}
	}
	answers := map[string]string{
		"list":     `[{"gpu":0,"bdf":"0000:03:00.0"},{"gpu":1,"bdf":"0000:04:00.0"}]`,
		"static":   `[{"gpu":0,"ifwi":{"version":"1.2"},"vram":{"size":"196592 MB"}},{"gpu":1,"ifwi":{"version":"1.2"},"vram":{"size":"196592 MB"}}]`,
		"firmware": `[{"gpu":0,"fw_list":[{"fw_id":"PLDM_BUNDLE","fw_version":"7"}]},{"gpu":1,"fw_list":[{"fw_id":"PLDM_BUNDLE","fw_version":"7"}]}]`,
	}
	return Host{Root: dir, Live: true, Exec: func(_ context.Context, argv ...string) (Output, error) {
		if argv[0] != "amd-smi" {
			return Output{}, ErrNotFound
		}
		time.Sleep(time.Second) // of a bubble
		return Output{Stdout: []byte(answers[argv[1]])}, nil
	}}, dir
}

// TestReadAgain: a later look takes no time for tools that are slow, keeps what they alone told, and sees what changed.
func TestReadAgain(t *testing.T) {
	h, dir := slowTools(t)
	synctest.Test(t, func(t *testing.T) {
		look := func(read func() SUT) (SUT, time.Duration) { start := time.Now(); return read(), time.Since(start) }
		first, took := look(func() SUT { return Read(t.Context(), h, Program{}) })
		if a := first.Accelerators.Items; len(a) != 2 || a[1].IFWI.Value != "1.2" || took < 6*time.Second {
			t.Fatalf("the tool was not asked: %+v after %s", a, took)
		}
		second, took := look(func() SUT { return ReadAgain(t.Context(), h, Program{}, first) })
		if changes := Drift(first, second); took != 0 || len(changes) != 0 {
			t.Errorf("%+v after %s", changes, took)
		}
		if a := second.Accelerators.Items[0]; a.IFWI != first.Accelerators.Items[0].IFWI || len(a.Firmware.Items) != 1 {
			t.Errorf("%+v, %+v", a.IFWI, a.Firmware)
		}
		write(t, filepath.Join(dir, "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon1/power1_cap"), "600000000")
		for _, lost := range []string{"mem_info_vram_total", "hwmon/hwmon1/power1_cap"} {
			if err := os.Remove(filepath.Join(dir, "sys/bus/pci/devices/0000:04:00.0", lost)); err != nil {
				t.Fatal(err)
			}
		}
		var codes []string
		for _, c := range Drift(first, ReadAgain(t.Context(), h, Program{}, first)) {
			codes = append(codes, c.Code)
		}
		if got := strings.Join(codes, " "); got != "gpu_count power_cap" {
			t.Errorf("a GPU whose driver is gone and a cap that moved: %s", got)
		}
	})
}

// TestReadAgainAsksWhoKnows: where the tool alone knows of the GPUs it is asked at each look.
func TestReadAgainAsksWhoKnows(t *testing.T) {
	h, dir := slowTools(t)
	if err := os.RemoveAll(filepath.Join(dir, "sys")); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		h.Live = false // a live machine without a bus has no GPU to ask about
		first := Read(t.Context(), h, Program{})
		if len(first.Accelerators.Items) != 2 {
			t.Fatalf("%+v", first.Accelerators)
		}
		h.Exec = func(context.Context, ...string) (Output, error) { return Output{}, ErrNotFound }
		if now := ReadAgain(t.Context(), h, Program{}, first); len(now.Accelerators.Items) != 0 {
			t.Errorf("GPUs that nobody sees: %+v", now.Accelerators.Items)
		}
	})
}

// TestReadAgainAsksOnce: no source that is asked once is asked at a later look, and what it told stands.
func TestReadAgainAsksOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sys/block/nvme0n1/size"), "2048")
	write(t, filepath.Join(dir, "sys/bus/pci/devices/0000:04:00.0/vendor"), "0x8086")
	var asked []string
	h := Host{Root: dir, Live: true, Exec: func(_ context.Context, argv ...string) (Output, error) {
		asked = append(asked, argv[0])
		if argv[0] == "smartctl" {
			return Output{Stdout: []byte(`{"smart_status":{"passed":true}}`)}, nil
		}
		return Output{}, ErrNotFound
	}}
	var mu sync.Mutex // probes ask side by side
	ask := h.Exec
	h.Exec = func(ctx context.Context, argv ...string) (Output, error) {
		mu.Lock()
		defer mu.Unlock()
		return ask(ctx, argv...)
	}
	first := Read(t.Context(), h, Program{})
	if !slices.Contains(asked, "smartctl") || !first.Storage.Devices.Items[0].Health.Passed.Value {
		t.Fatalf("%v %+v", asked, first.Storage.Devices)
	}
	asked = nil
	second := ReadAgain(t.Context(), h, Program{}, first)
	for _, program := range asked {
		if slices.Contains([]string{"smartctl", "ipmitool", "amd-smi", "rocm-smi", "nicctl"}, program) {
			t.Errorf("%s was asked again", program)
		}
	}
	if second.Storage.Devices.Items[0].Health.Passed != first.Storage.Devices.Items[0].Health.Passed {
		t.Errorf("%+v", second.Storage.Devices)
	}
}
