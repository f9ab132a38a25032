package kernel

import (
	"slices"
	"testing"
)

func TestTaint(t *testing.T) {
	for text, want := range map[string][]string{
		"0": {}, "12288": {"out_of_tree_module", "unsigned_module"}, "16528": {"machine_check", "oops", "soft_lockup"}, "1099511627776": {"bit_40"}, "": nil, "x": nil,
	} {
		got, err := parseTaint(text)
		if !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestSecureBoot(t *testing.T) {
	const name = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	for _, tt := range []struct {
		what  string
		files map[string]string
		known bool
		on    bool
	}{
		{"on", map[string]string{name: "\x06\x00\x00\x00\x01"}, true, true},
		{"off", map[string]string{name: "\x06\x00\x00\x00\x00"}, true, false},
		{"cut off", map[string]string{name: "\x06\x00"}, false, false},
		{"no variables", map[string]string{"sys/firmware/efi/fw_platform_size": "64"}, false, false},
	} {
		f := readSecureBoot(live(t, tt.files))
		if f.IsKnown() != tt.known || f.Value != tt.on || (!tt.known && f.Unknown == "") {
			t.Errorf("%s: %+v", tt.what, f)
		}
	}
	if f := readSecureBoot(live(t, nil)); f.NA == "" {
		t.Errorf("without UEFI: %+v", f)
	}
}

func TestOSRelease(t *testing.T) {
	for text, want := range map[string]string{
		"NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n": "Ubuntu 24.04.1 LTS", "NAME='Alpine Linux'\n": "Alpine Linux", "ID=arch\n": "", "": "", "PRETTY_NAME=\"\"\nNAME=x": "x",
	} {
		if got, err := parseOSRelease(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestKernelState(t *testing.T) {
	o := probeOS(t, live(t, map[string]string{
		"proc/uptime": "86400.25 1.0", "proc/loadavg": "0.42 1.30 2.25 1/900 4242", "proc/sys/kernel/random/boot_id": "0a1b2c3d-1111-4222-8333-444455556666",
		"sys/kernel/security/lockdown": "none [integrity] confidentiality", "proc/sys/vm/overcommit_memory": "1", "proc/sys/vm/zone_reclaim_mode": "0", "proc/sys/vm/max_map_count": "1048576",
		"sys/kernel/mm/transparent_hugepage/defrag": "always defer [madvise] never", "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet",
	}))
	if o.UptimeS.Value != 86400.25 || o.Load1.Value != 0.42 || o.Load5.Value != 1.3 || o.Load15.Value != 2.25 || o.Lockdown.Value != "integrity" || len(o.BootHash.Value) != 16 {
		t.Errorf("%+v", o)
	}
	if n := o.Tuning; n.Overcommit.Value != "always" || !n.ZoneReclaim.IsKnown() || n.MaxMapCount.Value != 1048576 || n.THPDefrag.Value != "madvise" || n.Clocksource.Value != "hpet" || n.TunedProfile.NA == "" {
		t.Errorf("%+v", n)
	}
}

// TestIOMMU: what counts is the type of the GPUs' groups; on a machine without GPUs it is that of all.
func TestIOMMU(t *testing.T) {
	files := map[string]string{"sys/kernel/iommu_groups/0/type": "DMA", "sys/kernel/iommu_groups/7/type": "identity"}
	if f := readIOMMU(live(t, files)); f.Value != "1 × DMA, 1 × identity" {
		t.Errorf("%+v", f)
	}
	for name, text := range map[string]string{"vendor": "0x10de", "class": "0x030200", "iommu_group/type": "identity"} {
		files["sys/bus/pci/devices/0000:1b:00.0/"+name] = text
	}
	if f := readIOMMU(live(t, files)); f.Value != "identity" {
		t.Errorf("%+v", f)
	}
	if f := readIOMMU(live(t, map[string]string{"sys/kernel/iommu_groups/0/devices": ""})); f.IsKnown() {
		t.Errorf("no group tells its type: %+v", f)
	}
}
