package instance

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// KilledCode is the exit code of a program that SIGKILL ended.
const KilledCode = 128 + 9

// Exit is how an instance ended.
type Exit struct {
	Name     string // of the container, or "pid 1234"
	Code     int    // 128 + the signal that killed it; -1 when it is not known
	Signal   string // "SIGTERM"; "" when it exited by itself
	OOM      bool   // the kernel killed it for want of memory
	Restarts int    // by the container engine, which is asked for none
	Reason   string // "exited with code 1", "was killed by signal 9", …
	Error    string // the container engine's own words, where it has any

	Outside   bool  // somebody else had the container engine end or remove it
	Restarted bool  // the container engine was started again, and the container ended with it
	Away      error // the container engine went away and did not come back in time: what became of the container is not known

	Asked  bool          // Stop came before its end
	Killed bool          // Stop had to, after the grace or because its context ended
	Took   time.Duration // from Stop to its end; 0 when it had ended before

	Members []Exit // of several together: how each of them ended
}

// ExitWith is an exit of this code; one above 128 is by a signal, as shells and container engines tell it.
func ExitWith(name string, code int) Exit {
	e := Exit{Name: name, Code: code, Reason: fmt.Sprintf("exited with code %d", code)}
	if code > 128 && code < 128+65 {
		e.Signal = unix.SignalName(unix.Signal(code - 128))
		e.Reason = fmt.Sprintf("was killed by signal %d", code-128)
	}
	return e
}

// Stopped adds to an exit that it was asked for, how long that took, and whether it had to be forced.
func (e Exit) Stopped(took time.Duration, forced bool) Exit {
	if e.Asked {
		return e // an earlier Stop's
	}
	e.Asked, e.Killed, e.Took = true, forced, took
	if forced && e.Code == -1 {
		e.Code, e.Signal, e.Reason = KilledCode, "SIGKILL", "was removed while it ran"
	}
	return e
}
