package port

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"assay/fault"
)

// TestFree: the ports are free, each is another, and none is of those that the kernel gives to connections.
func TestFree(t *testing.T) {
	ports, err := Free(64)
	if err != nil {
		t.Fatal(err)
	}
	first, seen := kernelsFirst("/proc"), map[int]bool{}
	for _, p := range ports {
		if seen[p] || Check(fault.Server, p) != nil || first > quietLast && (p < quietFirst || p > quietLast) {
			t.Errorf("port %d of %v", p, ports)
		}
		seen[p] = true
	}
	if got := kernelsFirst(t.TempDir()); got != 0 {
		t.Errorf("a kernel that does not say: %d", got)
	}
	l, err := listenOnFree(false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLoopbackOnly looks at sockets of this process as those of a container are looked at.
func TestLoopbackOnly(t *testing.T) {
	for _, c := range []struct {
		address, want string
		only          bool
	}{{"127.0.0.1:0", "127.0.0.1", true}, {"[::1]:0", "::1", true}, {"127.3.2.1:0", "127.0.0.1", true}, {"0.0.0.0:0", "", false}, {"[::]:0", "", false}} {
		l, err := net.Listen("tcp", c.address)
		if err != nil {
			t.Logf("%s: %v", c.address, err)
			continue
		}
		port := l.Addr().(*net.TCPAddr).Port
		proc := filepath.Join("/proc", strconv.Itoa(os.Getpid()))
		if got, only := LoopbackOnly(proc, port); got != c.want || only != c.only {
			t.Errorf("%s: %q, %v", c.address, got, only)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHolder: who listens is named, and a machine that does not show it is no error.
func TestHolder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := Holder(l.Addr().(*net.TCPAddr).Port); !strings.HasSuffix(got, "(pid "+strconv.Itoa(os.Getpid())+")") {
		t.Errorf("the holder is %s", got)
	}
	if got := holder(t.TempDir(), 8000); got != "an unknown program" {
		t.Errorf("without /proc: %s", got)
	}
}

// One socket at the loopback beside one at all addresses is no fault.
func TestLoopbackBesideAll(t *testing.T) {
	proc := t.TempDir()
	if err := os.Mkdir(filepath.Join(proc, "net"), 0o755); err != nil {
		t.Fatal(err)
	}
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	row := func(local string) string {
		return "   0: " + local + " 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 71 1 0 100 0 0 10 0\n"
	}
	for tables, only := range map[[2]string]bool{
		{head + row("0100007F:1F40"), head}:                                                true,
		{head + row("0100007F:1F40"), head + row("00000000000000000000000000000000:1F40")}: false,
		{head, head}:                        false, // nobody listens
		{head + row("0100007F:1F41"), head}: false,
		{head, head + row("0000000000000000FFFF00000100007F:1F40")}:                            true,
		{head + row("0100007F:1F40") + row("050011AC:1F40"), head}:                             false,
		{head + "   0: 0100007F:1F40 00000000:0000 01 0:0 00:0 0 0 0 71\n", "no table at all"}: false,
	} {
		for i, name := range []string{"tcp", "tcp6"} {
			if err := os.WriteFile(filepath.Join(proc, "net", name), []byte(tables[i]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, got := LoopbackOnly(proc, 8000); got != only {
			t.Errorf("%v: %v", tables, got)
		}
	}
}
