package host

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadThatHangs: a read that does not come back is left at its limit, is not begun again, and is forgotten when it ends.
func TestReadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatience()
		release := make(chan struct{})
		var begun atomic.Int32
		hang := func() (string, error) { begun.Add(1); <-release; return "late", nil }
		for range 3 {
			if v, err := patiently(p, "/sys/x", hang); !errors.Is(err, errStuck) || v != "" {
				t.Errorf("%q, %v", v, err)
			}
		}
		if n := begun.Load(); n != 1 {
			t.Errorf("the read was begun %d times", n)
		}
		if v, err := patiently(p, "/sys/y", func() (int, error) { return 7, nil }); v != 7 || err != nil {
			t.Errorf("another read gives %d, %v", v, err)
		}
		close(release)
		synctest.Wait()
		if v, err := patiently(p, "/sys/x", func() (string, error) { return "well", nil }); v != "well" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	})
}

// TestReadsThatHangTogether: a file that two read at once is stuck until both came back.
func TestReadsThatHangTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatience()
		release := []chan struct{}{make(chan struct{}), make(chan struct{})}
		for _, r := range release {
			go patiently(p, "/sys/x", func() (int, error) { <-r; return 0, nil }) //nolint:errcheck // it hangs
		}
		time.Sleep(2 * readLimit) // of the bubble's own time
		for i, r := range release {
			if !p.isStuck("/sys/x") {
				t.Errorf("with %d of 2 back it may be read again", i)
			}
			close(r)
			synctest.Wait()
		}
		if p.isStuck("/sys/x") {
			t.Error("it is stuck for ever")
		}
	})
}

// TestHangIsToldOf: the fact says that the driver did not answer.
func TestHangIsToldOf(t *testing.T) {
	h := Host{Root: t.TempDir(), Live: true, wait: &patience{stuck: map[string]int{"/x": 1, "statfs /mnt": 1}}}
	if _, err := h.Text("/x"); err == nil || err.Error() != "/x did not answer within 2s" {
		t.Errorf("%v", err)
	}
	if _, err := h.List("/x"); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("%v", err)
	}
	h.Statfs = func(string) (Statfs, error) { return Statfs{Bytes: 1}, nil }
	if _, err := h.Size("/mnt"); !errors.Is(err, errStuck) {
		t.Errorf("%v", err)
	}
	if s, err := h.Size("/"); err != nil || s.Bytes != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestUnkillable: a program that does not end when it is killed is left behind.
func TestUnkillable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if ended, _ := Outcome(ctx, make(chan error)); ended {
			t.Error("a program that hangs has ended")
		}
		slow := make(chan error, 1)
		slow <- errStuck
		if ended, err := Outcome(ctx, slow); !ended || !errors.Is(err, errStuck) {
			t.Errorf("%v, %v", err, ended)
		}
	})
}

// TestHeld: a program that is killed and stays is left behind; one that goes is waited for.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		finished := make(chan error, 1)
		cancel()
		if ended, err := Outcome(ctx, finished); ended || err != nil {
			t.Errorf("%t %v", ended, err)
		}
		time.AfterFunc(killGrace-1, func() { finished <- io.EOF })
		if ended, err := Outcome(ctx, finished); !ended || err != io.EOF {
			t.Errorf("%t %v", ended, err)
		}
	})
}

// TestUnkillableIsNotRepeated: while a run of a program cannot be stopped, no other of it is started.
func TestUnkillableIsNotRepeated(t *testing.T) {
	program, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	p := &patience{stuck: map[string]int{program: 1}}
	if _, err := p.exec(t.Context(), "true"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	p.add(program, -1)
	if _, err := p.exec(t.Context(), "true"); err != nil {
		t.Errorf("%v", err)
	}
}

// TestEndlessOutput: a program that never stops printing is stopped when it printed too much, long before its time is up.
func TestEndlessOutput(t *testing.T) {
	for _, script := range []string{"yes", "yes >&2", "yes & wait"} {
		out, err := newPatience().exec(t.Context(), "sh", "-c", script)
		if err == nil || !strings.Contains(err.Error(), "printed more than 16 MiB and was stopped") {
			t.Errorf("%s: %v", script, err)
		}
		if n := len(out.Stdout) + len(out.Stderr); n != maxOutputBytes {
			t.Errorf("%s: %d bytes are kept", script, n)
		}
	}
}

// TestNeeds: a refusal says which right would help, and which tool shows the same.
func TestNeeds(t *testing.T) {
	for path, want := range map[string]string{
		"/sys/firmware/dmi/tables/DMI": "needs root (dmidecode): /sys/firmware/dmi/tables/DMI is not readable by this user",
		"/dev/kmsg":                    "needs root or the group adm (dmesg): /dev/kmsg is not readable by this user",
		"/sys/class/kfd/kfd/topology":  "needs root or the group render: /sys/class/kfd/kfd/topology is not readable by this user",
		"/sys/class/dmi/id/board_name": "needs root (dmidecode): /sys/class/dmi/id/board_name is not readable by this user",
		"/proc/1/environ":              "needs root: /proc/1/environ is not readable by this user",
	} {
		if got := (&readError{path: path, why: whyRefused}).Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if got := (&readError{path: "/dev/kmsg", why: whyNotEven}).Error(); strings.HasPrefix(got, "needs") {
		t.Errorf("root is told to be root: %q", got)
	}
}
