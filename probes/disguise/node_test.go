package disguise

import "testing"

// TestAsWritten: a name that is a common word is cut only where nothing else can be meant.
func TestAsWritten(t *testing.T) {
	for node, want := range map[string]bool{"gpu-node-17": true, "mi300x-a": true, "ubuntu": false, "db1": false, "server": false, "node7": true, "": false, "localhost": false, "web.example.org": false, "gpus.example.org": true} {
		if got := AsWritten(node) != nil; got != want {
			t.Errorf("%q: %v", node, got)
		}
	}
}

// TestSpellings: volume groups and mounts are named after their machine; the kernel's own names and longer words are not.
func TestSpellings(t *testing.T) {
	for _, c := range []struct{ node, text, want string }{
		{"gpu-node-17.example.org", "/dev/mapper/rhel_gpu--node--17-root rd.lvm.lv=rhel_gpu-node-17/root", "/dev/mapper/rhel_[host]-root rd.lvm.lv=rhel_[host]/root"},
		{"gpu-node-17.example.org", "gpu-node-17.example.org:/x gpu-node-17_a_gpu-node-17 gpu-node-170", "[host]:/x [host]_a_[host] gpu-node-170"},
		{"gpu-node-17.example.org", "cl_gpu--node--17.example.org-root", "cl_[host]-root"},
		{"node1", "/sys/devices/system/node/node1/cpulist /data/node1 node10", "/sys/devices/system/node/node1/cpulist /data/[host] node10"},
	} {
		if got := AsWritten(c.node).Cut(c.text); got != c.want {
			t.Errorf("%s: %q becomes %q", c.node, c.text, got)
		}
	}
	if got := InAnyCase("aurora").Cut("AURORA--vg auroras"); got != "[host]--vg auroras" {
		t.Error(got)
	}
}
