package kernel

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/hosttest"
	"assay/probes/sut"
)

// live makes a host of files as a running machine: what is not there is known not to be there.
func live(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	h := hosttest.Tree(t, files)
	h.Live = true
	return h
}

func probeOS(t *testing.T, h host.Host) sut.OS {
	t.Helper()
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s.OS
}

// TestRealVulnerabilities reads a public capture of a processor with every kind of sentence.
func TestRealVulnerabilities(t *testing.T) {
	dir := "../../../shared/fixtures/system/procfs-cpu-vulnerabilities"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	f := readMitigations(host.Host{Root: dir})
	if f.Value != "5 mitigated, 1 not affected, vulnerable: mds mmio_stale_data, unknown: srbds" {
		t.Errorf("%+v", f)
	}
}

// TestVulnerabilityUnread: one that cannot be read is not left out of the count.
func TestVulnerabilityUnread(t *testing.T) {
	const dir = "sys/devices/system/cpu/vulnerabilities/"
	if f := readMitigations(hosttest.Tree(t, map[string]string{dir + "mds": "Not affected", dir + "srso": ""})); f.Value != "0 mitigated, 1 not affected, unknown: srso" {
		t.Errorf("%+v", f)
	}
}

// ask runs a tool of this machine; the test is skipped where there is none.
func ask(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).Output()
	if err != nil {
		t.Skipf("%s does not work here: %v", strings.Join(argv, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// TestAgreesWithUname compares the kernel's release and the machine's architecture.
func TestAgreesWithUname(t *testing.T) {
	o := probeOS(t, host.Live())
	if r, m := ask(t, "uname", "-r"), ask(t, "uname", "-m"); r != o.Kernel.Value || m != o.Architecture.Value {
		t.Errorf("uname has %s %s, we %s %s", r, m, o.Kernel.Value, o.Architecture.Value)
	}
}

// TestAgreesWithFree compares the swap that the kernel has.
func TestAgreesWithFree(t *testing.T) {
	ours := strconv.FormatInt(probeOS(t, host.Live()).Tuning.SwapBytes.Value, 10)
	for line := range strings.Lines(ask(t, "free", "-b")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Swap:" && f[1] != ours {
			t.Errorf("free has %s bytes of swap, we %s", f[1], ours)
		}
	}
}
