package affinity

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mpolBind keeps memory to the nodes given.
const mpolBind = 2

// Start runs start, which starts a program, on a thread that is kept to the place: what a program inherits of the thread that starts it are its CPUs
// and its memory's nodes. The thread ends with the call, so that no other work of this program is kept there.
func (p Place) Start(start func() error) error {
	if len(p.CPUs)+len(p.Nodes) == 0 {
		return start()
	}
	done := make(chan error, 1)
	go func() { done <- p.onThread(start) }()
	return <-done
}

// onThread takes the thread of its goroutine for itself. It is never given back, so that it ends with the goroutine; only the first thread
// of a program cannot end, and is held while another one does the work.
func (p Place) onThread(start func() error) error {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		defer runtime.UnlockOSThread()
		return p.Start(start)
	}
	if err := p.hold(); err != nil {
		return err
	}
	return start()
}

// hold keeps the calling thread to the place.
func (p Place) hold() error {
	if len(p.CPUs) > 0 {
		bits := mask(p.CPUs)
		if _, _, e := unix.RawSyscall(unix.SYS_SCHED_SETAFFINITY, 0, uintptr(len(bits)*8), uintptr(unsafe.Pointer(&bits[0]))); e != 0 {
			return fmt.Errorf("keep the program to CPUs %s: %w", Format(p.CPUs), e)
		}
	}
	if len(p.Nodes) == 0 {
		return nil
	}
	bits := mask(p.Nodes)
	// The kernel takes one bit less than it is told.
	if _, _, e := unix.RawSyscall(unix.SYS_SET_MEMPOLICY, mpolBind, uintptr(unsafe.Pointer(&bits[0])), uintptr(len(bits)*64+1)); e != 0 {
		return fmt.Errorf("keep the program's memory to nodes %s: %w", Format(p.Nodes), e)
	}
	return nil
}

// mask has a bit for each number.
func mask(numbers []int) []uint64 {
	bits := make([]uint64, numbers[len(numbers)-1]/64+1)
	for _, n := range numbers {
		bits[n/64] |= 1 << (n % 64)
	}
	return bits
}
