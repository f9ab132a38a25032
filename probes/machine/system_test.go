package machine

import (
	"testing"

	"assay/probes/hosttest"
	"assay/probes/sut"
)

func TestVirtualization(t *testing.T) {
	cpu := func(flags string) string { return "processor : 0\nflags : fpu " + flags + "\n" }
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"bare metal", map[string]string{"proc/cpuinfo": cpu("vmx")}, "none"},
		{"a host with KVM loaded", map[string]string{"proc/cpuinfo": cpu("vmx"), "sys/module/kvm/x": "", "sys/class/dmi/id/sys_vendor": "Dell Inc."}, "none"},
		{"QEMU", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "sys/class/dmi/id/sys_vendor": "QEMU"}, "qemu"},
		{"Amazon", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "p5.48xlarge"}, "amazon"},
		{"Amazon's bare metal", map[string]string{"proc/cpuinfo": cpu("vmx"), "sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m7i.metal"}, "none"},
		{"KVM without firmware", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock"}, "kvm"},
		{"unknown hypervisor", map[string]string{"proc/cpuinfo": cpu("hypervisor")}, "vm-other"},
		{"Xen's own domain", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "proc/xen/capabilities": "control_d"}, "none"},
		{"a container", map[string]string{"proc/cpuinfo": cpu("hypervisor"), ".dockerenv": ""}, "docker"},
		{"Arm without firmware", map[string]string{"proc/cpuinfo": "processor : 0\nFeatures : fp asimd\n"}, ""},
		{"Arm with the firmware of a board", map[string]string{"proc/cpuinfo": "processor : 0\nFeatures : fp asimd\n", "sys/class/dmi/id/sys_vendor": "Ampere"}, "none"},
		{"Google's bare metal", map[string]string{"proc/cpuinfo": cpu("vmx"), "sys/class/dmi/id/product_name": "Google Compute Engine", "sys/class/dmi/id/sys_vendor": "Google"}, "none"},
		{"Google", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "sys/class/dmi/id/product_name": "Google Compute Engine"}, "google"},
		{"a guest with KVM of its own", map[string]string{"proc/cpuinfo": cpu("hypervisor vmx"), "sys/module/kvm/x": "", "sys/class/dmi/id/sys_vendor": "QEMU"}, "qemu"},
		{"a POWER guest", map[string]string{"proc/cpuinfo": "processor : 0\ncpu : POWER9\n", "proc/device-tree/hypervisor/compatible": "linux,kvm\x00qemu,pseries\x00"}, "kvm"},
		{"podman", map[string]string{"proc/cpuinfo": cpu("vmx"), "run/.containerenv": ""}, "podman"},
		{"LXC", map[string]string{"proc/cpuinfo": cpu("vmx"), "run/systemd/container": "lxc"}, "lxc"},
		{"a pod", map[string]string{"proc/cpuinfo": cpu("vmx"), "proc/1/cgroup": "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-0f.scope"}, "container-other"},
		{"a pod whose group is hidden", map[string]string{"proc/cpuinfo": cpu("vmx"), "proc/1/cgroup": "0::/", "run/secrets/kubernetes.io/serviceaccount/namespace": "a"}, "container-other"},
		{"a host with containers", map[string]string{"proc/cpuinfo": cpu("vmx"), "proc/1/cgroup": "0::/init.scope"}, "none"},
		{"Windows' subsystem", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2"}, "wsl"},
		{"nothing", nil, ""},
	} {
		if f := probeSystem(t, hosttest.Tree(t, tt.files)).Virtualization; f.Value != tt.want || (f.Value == "" && f.Unknown == "") {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

func TestBoardText(t *testing.T) {
	h := hosttest.Tree(t, map[string]string{
		"sys/class/dmi/id/sys_vendor": "To Be Filled By O.E.M.", "sys/class/dmi/id/board_vendor": "empty", "sys/class/dmi/id/product_name": "Default string\n",
		"sys/class/dmi/id/board_name": "H12", "sys/class/dmi/id/bios_date": "13/45/2025",
	})
	var s sut.SUT
	if err := ProbeSystem(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	if s.System.Vendor.IsKnown() || s.System.Product.Value != "H12" || s.System.BIOS.Date.IsKnown() || s.System.BIOS.Version.IsKnown() {
		t.Errorf("%+v", s.System)
	}
}

func TestBoardTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"To be filled by O.E.M.": false, "Default string": false, "Super Server": false, "System Product Name": false, "<BAD INDEX>": false, "....": false, "----": false, " None ": false, "": false,
		"PowerEdge XE9680": true, "H13DSG-O-CPU": true, "A": true, "7D9RCTO1WW": true, "000": true,
	} {
		if got, err := boardText(text); (err == nil) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestBIOSDate(t *testing.T) {
	for text, want := range map[string]string{
		"07/11/2025": "2025-07-11", "07/11/25": "2025-07-11", "11/08/99": "1999-11-08", "2025-07-11": "2025-07-11", "20250711": "2025-07-11", "13/45/2025": "", "": "", "July": "",
	} {
		if got, err := parseBIOSDate(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestBoardAndMaker(t *testing.T) {
	s := probeSystem(t, live(t, map[string]string{
		"sys/class/dmi/id/board_vendor": "Supermicro", "sys/class/dmi/id/board_name": "H13DSG-O-CPU", "sys/class/dmi/id/product_name": "Super Server", "sys/class/dmi/id/chassis_type": "23",
		"sys/class/dmi/id/bios_vendor": "American Megatrends", "sys/class/dmi/id/product_version": "0123456789",
	}))
	if s.Vendor.Value != "Supermicro" || s.Product.Value != "H13DSG-O-CPU" || s.Board.Value != "Supermicro H13DSG-O-CPU" || s.Chassis.Value != "rack mount" || s.Version.IsKnown() {
		t.Errorf("%+v", s)
	}
}

func TestConfidential(t *testing.T) {
	guest := "processor : 0\nflags : fpu hypervisor\n"
	for _, tt := range []struct {
		name        string
		files       map[string]string
		guest, host string
	}{
		{"a guest of SEV-SNP", map[string]string{"proc/cpuinfo": guest, "sys/class/misc/sev-guest/dev": "10:1"}, "sev-snp", ""},
		{"a guest of TDX", map[string]string{"proc/cpuinfo": guest, "sys/class/misc/tdx_guest/dev": "10:1"}, "tdx", ""},
		{"a guest of TDX by its flag", map[string]string{"proc/cpuinfo": guest + "flags : tdx_guest\n"}, "", ""},
		{"a flag of TDX", map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu hypervisor tdx_guest\n"}, "tdx", ""},
		{"a guest", map[string]string{"proc/cpuinfo": guest}, "", ""},
		{"a host of SEV-SNP", map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu\n", "sys/module/kvm_amd/parameters/sev": "Y", "sys/module/kvm_amd/parameters/sev_snp": "Y"}, "", "sev-snp"},
		{"a host of TDX", map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu\n", "sys/module/kvm_intel/parameters/tdx": "Y"}, "", "tdx"},
		{"a host that offers none", map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu\n", "sys/module/kvm_amd/parameters/sev": "N"}, "", "none"},
	} {
		c := probeSystem(t, live(t, tt.files)).Confidential
		if c.Guest.Value != tt.guest || c.Host.Value != tt.host {
			t.Errorf("%s: %+v", tt.name, c)
		}
		for _, f := range []sut.Fact[string]{c.Guest, c.Host} {
			if !f.IsKnown() && f.Unknown+f.NA == "" {
				t.Errorf("%s: a fact without a reason", tt.name)
			}
		}
	}
}
