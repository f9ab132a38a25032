package probes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told runs a program of this machine whose word is taken, and skips where it is not there.
func told(t *testing.T, into any, argv ...string) {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		t.Skipf("%s does not tell here: %v", strings.Join(argv, " "), err)
	}
	if err := json.Unmarshal(bytes.TrimSpace(out), into); err != nil {
		t.Fatalf("%s: %v", argv[0], err)
	}
}

// settles compares until nothing differs: other tests mount, start and stop what there is on this machine, between the tool's look and ours.
func settles(t *testing.T, differs func() string) {
	t.Helper()
	diff := differs()
	for tries := 8; diff != "" && tries > 0; tries-- {
		diff = differs()
	}
	if diff != "" {
		t.Error(diff)
	}
}

// TestAgreesWithLsblk: drives, their sizes and where they are mounted are those that lsblk lists.
func TestAgreesWithLsblk(t *testing.T) {
	settles(t, func() string { return againstLsblk(t) })
}

func againstLsblk(t *testing.T) (differs string) {
	t.Helper()
	type node struct {
		Name, Type  string
		Size        int64
		Mountpoints []string
		FSType      string
		Children    []node
	}
	var doc struct{ Blockdevices []node }
	told(t, &doc, "lsblk", "-J", "-b", "-o", "NAME,TYPE,SIZE,MOUNTPOINTS,FSTYPE")
	drives, mounts := map[string]int64{}, map[string]bool{}
	for rest := doc.Blockdevices; len(rest) > 0; rest = append(rest[1:], rest[0].Children...) {
		n := rest[0]
		if n.Type == "disk" && n.Size > 0 && !strings.HasPrefix(n.Name, "zram") && !strings.HasPrefix(n.Name, "nbd") {
			drives[n.Name] = n.Size
		}
		for _, point := range n.Mountpoints {
			if point != "" && point != "[SWAP]" {
				mounts[point] = true
			}
		}
	}
	s := Read(t.Context(), Live(), Program{})
	got := map[string]int64{}
	for _, d := range s.Storage.Devices.Items {
		got[d.Name.Value] = d.Bytes.Value
	}
	if diff := cmp.Diff(drives, got); diff != "" {
		differs = "(-lsblk +assay) " + diff
	}
	for _, f := range s.Storage.Filesystems.Items {
		for _, point := range f.Mounts.Value {
			delete(mounts, point)
		}
	}
	if len(mounts) > 0 {
		differs += fmt.Sprintf("lsblk lists mounts that are not in the SUT: %v", mounts)
	}
	return differs
}

// TestAgreesWithIP: interfaces, their MTU and their state are those that ip lists.
func TestAgreesWithIP(t *testing.T) {
	settles(t, func() string { return againstIP(t) })
}

func againstIP(t *testing.T) (differs string) {
	t.Helper()
	type link struct {
		Name  string `json:"ifname"`
		MTU   int    `json:"mtu"`
		State string `json:"operstate"`
	}
	var links []link
	told(t, &links, "ip", "-j", "link")
	type seen struct {
		mtu int
		up  bool
	}
	want, got := map[string]seen{}, map[string]seen{}
	for _, l := range links {
		if l.Name != "lo" && !strings.HasPrefix(l.Name, "veth") && !strings.HasPrefix(l.Name, "enx") {
			want[l.Name] = seen{l.MTU, l.State == "UP"}
		}
	}
	for _, n := range Read(t.Context(), Live(), Program{}).Network.Interfaces.Items {
		if !strings.HasPrefix(n.Name.Value, "enx") { // named after its address, which is cut
			got[n.Name.Value] = seen{n.MTU.Value, n.Up.Value}
		}
	}
	for name := range want { // bridges of other tests' networks
		if strings.HasPrefix(name, "br-") {
			delete(want, name)
		}
	}
	for name := range got {
		if strings.HasPrefix(name, "br-") {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(seen{})); diff != "" {
		differs = "(-ip +assay) " + diff
	}
	return differs
}
