package process_test

import (
	"fmt"
	"os"
	"testing"

	"assay/containers/instancetest"
	"assay/containers/logs"
	"assay/containers/process"
)

// TestTheLogOfALastSecondIsCut: a program that fills the disk and ends before anybody looks leaves no more than one that goes on.
func TestTheLogOfALastSecondIsCut(t *testing.T) {
	s := instancetest.Child(t, "serve")
	s.Argv = []string{"head", "-c", fmt.Sprint(logs.Cap + 1<<20), "/dev/zero"}
	inst := instancetest.Start(t, process.Runtime{}, s)
	<-inst.Exited()
	if _, err := inst.Stop(t.Context()); err != nil { // waits until nothing of it is left
		t.Fatal(err)
	}
	st, err := os.Stat(inst.LogPath())
	if err != nil || st.Size() > logs.Cap || st.Size() < logs.Head {
		t.Errorf("%d bytes, %v", st.Size(), err)
	}
}
