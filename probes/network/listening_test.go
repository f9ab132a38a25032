package network

import (
	"slices"
	"testing"
)

func TestListeningPorts(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 19031 1 0 100 0 0 10 0
   1: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 19032
   2: 0100007F:C350 0100007F:0016 01 00000000:00000000 00:00000000 00000000     0        0 19033
   3: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A
`
	got, err := listeningPorts(table)
	if err != nil || !slices.Equal(got, []int{22, 8080}) {
		t.Errorf("%v %v", got, err)
	}
	if got, err := listeningPorts("  0: 00000000 00000000:0000 0A\n"); err == nil {
		t.Errorf("a table that is cut off gives %v", got)
	}
}

func FuzzListeningPorts(f *testing.F) {
	f.Add("  0: 00000000:1F90 00000000:0000 0A")
	f.Add("  0: 00000000:FFFFF 0 0A\n\x00")
	f.Fuzz(func(t *testing.T, table string) {
		ports, err := listeningPorts(table)
		for _, p := range ports {
			if err != nil || p < 0 || p > 65535 {
				t.Errorf("%v %v", ports, err)
			}
		}
	})
}
