package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRunSeveral: one that cannot even be killed costs its own answer only.
func TestRunSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		h := Host{Exec: func(_ context.Context, argv ...string) (Output, error) {
			if argv[0] == "stuck" {
				<-stuck
			}
			return Output{Stdout: []byte(argv[0])}, nil
		}}
		got := h.RunSeveral(t.Context(), 50*time.Millisecond, []string{"a"}, []string{"stuck"}, []string{"b"})
		if string(got[0].Stdout) != "a" || got[1].Err == nil || string(got[2].Stdout) != "b" {
			t.Errorf("%+v", got)
		}
	})
}

// TestSafeMountOptions: servers, users and passwords stay where they are, and what is kept is kept again.
func TestSafeMountOptions(t *testing.T) {
	for in, want := range map[string]string{
		"rw,noatime": "rw,noatime",
		"rw,addr=10.1.2.3,vers=4.2,clientaddr=10.0.0.1,username=bob,password=x,rsize=1048576": "rw,vers=4.2,rsize=1048576",
		"":                          "",
		"rw,lowerdir=/a:/b,inode64": "rw,inode64",
	} {
		got := SafeMountOptions(in)
		if got != want || SafeMountOptions(got) != got {
			t.Errorf("%q: %q", in, got)
		}
	}
}
