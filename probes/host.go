package probes

import "context"

// Host is where facts are read: a root directory and the ways to ask a running kernel. A capture gives the same Host.
type Host struct {
	Root   string                                                    // "/" of a live machine, or the folder of a capture
	Live   bool                                                      // false for a capture
	Exec   func(ctx context.Context, argv ...string) (Output, error) // error ErrNotFound when the program is not there
	Uname  func() (Uname, error)
	Statfs func(mount string) (Statfs, error)
}

// Output is what a program left.
type Output struct {
	Exit   int
	Stdout []byte
	Stderr []byte
}

// Uname is what uname(2) tells.
type Uname struct {
	Sysname, Nodename, Release, Version, Machine string
}

// Statfs is the size of a mounted file system.
type Statfs struct {
	Bytes     int64 `json:"bytes"`
	FreeBytes int64 `json:"free_bytes"`
}
