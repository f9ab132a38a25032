package storage

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/hosttest"
	"assay/probes/sut"
)

// tree is a host of files whose file systems have 100 bytes, 40 of them free.
func tree(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	h := hosttest.Tree(t, files)
	h.Statfs = func(string) (host.Statfs, error) { return host.Statfs{Bytes: 100, FreeBytes: 40}, nil }
	return h
}

// disks makes block devices: name → the names below it ("" for a disk), with more files by path.
func disks(below map[string]string, more map[string]string) map[string]string {
	files := map[string]string{}
	for name, under := range below {
		dir := "sys/devices/virtual/block/" + name
		files["sys/block/"+name], files["sys/class/block/"+name] = "-> /"+dir, "-> /"+dir
		files[dir+"/size"] = "2048"
		for _, u := range strings.Fields(under) {
			files[dir+"/slaves/"+u] = "-> /sys/class/block/" + u
			files["sys/devices/virtual/block/"+u+"/holders/"+name] = "-> /sys/class/block/" + name
		}
	}
	for name, text := range more {
		files[name] = text
	}
	return files
}

func probe(t *testing.T, h host.Host) sut.Storage {
	t.Helper()
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s.Storage
}

// TestStacks looks below file systems: every layer once, every drive once however many ways lead to it.
func TestStacks(t *testing.T) {
	const block = "sys/devices/virtual/block/"
	line := func(device, root, point, fstype, source string) string {
		return "1 0 " + device + " " + root + " " + point + " rw,noatime - " + fstype + " " + source + " rw,inode64\n"
	}
	cases := []struct {
		name     string
		files    map[string]string
		stack    string
		drives   int
		degraded any // number, or nil where it does not apply
		summary  string
	}{
		{"XFS on LVM on NVMe", disks(map[string]string{"nvme0n1": "", "nvme1n1": "", "nvme2n1": "", "nvme3n1": "", "nvme4n1": "", "nvme5n1": "", "nvme6n1": "", "dm-0": "nvme0n1 nvme1n1 nvme2n1 nvme3n1 nvme4n1 nvme5n1 nvme6n1"},
			map[string]string{block + "dm-0/dm/uuid": "LVM-abc", "sys/dev/block/253:0": "-> /" + block + "dm-0", "proc/self/mountinfo": line("253:0", "/", "/mnt/llm_data", "xfs", "/dev/mapper/vg-llm--data")}),
			"xfs lvm nvme", 7, nil, "XFS on LVM (/mnt/llm_data; 7 × NVMe)"},
		{"a mirror of LVM reaches its drives through several layers", disks(map[string]string{"sda": "", "sdb": "", "dm-1": "sda", "dm-2": "sdb", "dm-3": "sda", "dm-4": "sdb", "dm-5": "dm-1 dm-2 dm-3 dm-4"},
			map[string]string{block + "dm-1/dm/uuid": "LVM-1", block + "dm-2/dm/uuid": "LVM-2", block + "dm-3/dm/uuid": "LVM-3", block + "dm-4/dm/uuid": "LVM-4", block + "dm-5/dm/uuid": "LVM-5",
				block + "sda/queue/rotational": "0", block + "sdb/queue/rotational": "0", "sys/dev/block/253:5": "-> /" + block + "dm-5", "proc/self/mountinfo": line("253:5", "/", "/data", "ext4", "/dev/mapper/vg-m")}),
			"ext4 lvm ssd", 2, nil, "ext4 on LVM (/data; 2 × SSD)"},
		{"an array that lost a member, encrypted", disks(map[string]string{"nvme0n1": "", "nvme1n1": "", "md0": "nvme0n1 nvme1n1", "dm-0": "md0"},
			map[string]string{block + "md0/md/level": "raid1", block + "md0/md/degraded": "1", block + "dm-0/dm/uuid": "CRYPT-LUKS2-x", "sys/dev/block/253:0": "-> /" + block + "dm-0", "proc/self/mountinfo": line("253:0", "/", "/", "ext4", "/dev/mapper/root")}),
			"ext4 crypt raid1 nvme", 2, 1, "ext4 on LUKS on md raid1 (/; 2 × NVMe)"},
		{"stripes cannot lack a member", disks(map[string]string{"nvme0n1": "", "nvme1n1": "", "md0": "nvme0n1 nvme1n1"},
			map[string]string{block + "md0/md/level": "raid0", "sys/dev/block/9:0": "-> /" + block + "md0", "proc/self/mountinfo": line("9:0", "/", "/s", "xfs", "/dev/md0")}),
			"xfs raid0 nvme", 2, nil, "XFS on md raid0 (/s; 2 × NVMe)"},
		{"two ways to one drive", disks(map[string]string{"sda": "", "sdb": "", "dm-0": "sda sdb"},
			map[string]string{block + "dm-0/dm/uuid": "mpath-3600", block + "sda/queue/rotational": "1", block + "sdb/queue/rotational": "1", "sys/dev/block/253:0": "-> /" + block + "dm-0", "proc/self/mountinfo": line("253:0", "/", "/m", "xfs", "/dev/mapper/mpatha")}),
			"xfs multipath hdd", 1, nil, "XFS on multipath (/m; 1 × HDD)"},
		{"bcache", disks(map[string]string{"sda": "", "bcache0": "sda"},
			map[string]string{block + "sda/queue/rotational": "1", "sys/dev/block/252:0": "-> /" + block + "bcache0", "proc/self/mountinfo": line("252:0", "/", "/b", "ext4", "/dev/bcache0")}),
			"ext4 bcache hdd", 1, nil, "ext4 on bcache (/b; 1 × HDD)"},
		{"disks of a virtual machine", disks(map[string]string{"vda": "", "vdb": "", "dm-0": "vda vdb"},
			map[string]string{block + "dm-0/dm/uuid": "LVM-abc", "sys/dev/block/253:0": "-> /" + block + "dm-0", "proc/self/mountinfo": line("253:0", "/", "/v", "xfs", "/dev/mapper/vg-v")}),
			"xfs lvm disk", 2, nil, "XFS on LVM (/v; 2 × disk)"},
		{"a volume of a ZFS pool", disks(map[string]string{"zd0": ""}, map[string]string{"sys/dev/block/230:0": "-> /" + block + "zd0", "proc/self/mountinfo": line("230:0", "/", "/z", "ext4", "/dev/zd0")}),
			"ext4 zvol", 0, nil, "ext4 on zvol (/z; drives unknown)"},
		{"btrfs of two drives", disks(map[string]string{"nvme0n1": "", "nvme1n1": ""},
			map[string]string{"sys/fs/btrfs/0a-1/devices/nvme0n1": "-> /sys/class/block/nvme0n1", "sys/fs/btrfs/0a-1/devices/nvme1n1": "-> /sys/class/block/nvme1n1", "proc/self/mountinfo": line("0:40", "/@", "/b", "btrfs", "/dev/nvme0n1")}),
			"btrfs nvme", 2, nil, "Btrfs (/b; 2 × NVMe)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			list := probe(t, tree(t, c.files)).Filesystems
			if len(list.Items) != 1 {
				t.Fatalf("%+v", list)
			}
			f := list.Items[0]
			if got := strings.Join(f.Stack.Value, " "); got != c.stack || f.Drives.Value != c.drives || f.Summary.Value != c.summary || f.DeviceBytes.Value != 1<<20 || f.Options.Value != "rw,noatime,inode64" {
				t.Errorf("%q %+v", got, f)
			}
			switch want := c.degraded.(type) {
			case int:
				if !f.Degraded.IsKnown() || f.Degraded.Value != want {
					t.Errorf("degraded %+v", f.Degraded)
				}
			default:
				if f.Degraded.NA == "" {
					t.Errorf("degraded %+v", f.Degraded)
				}
			}
		})
	}
}

// TestPool: the members of a ZFS pool are not in any stack of block devices.
func TestPool(t *testing.T) {
	h := tree(t, disks(map[string]string{"nvme0n1": "", "nvme1n1": "", "nvme2n1": ""}, map[string]string{
		"proc/self/mountinfo": "1 0 0:60 / /tank rw - zfs tank/data rw,xattr\n",
	}))
	const status = "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE\n\ttank  ONLINE\n\t  raidz2-0  ONLINE\n\t    /dev/nvme0n1  ONLINE 0 0 0\n\t    /dev/nvme1n1  ONLINE 0 0 0\n\tcache\n\t  /dev/nvme2n1 ONLINE\n\nerrors: No known data errors\n"
	h.Exec = func(_ context.Context, argv ...string) (host.Output, error) {
		if argv[0] == "zpool" && argv[len(argv)-1] == "tank" {
			return host.Output{Stdout: []byte(status)}, nil
		}
		return host.Output{}, host.ErrNotFound
	}
	f := probe(t, h).Filesystems.Items[0]
	if strings.Join(f.Stack.Value, " ") != "zfs raidz2 nvme" || f.Drives.Value != 2 || f.Summary.Value != "ZFS on raidz2 (/tank; 2 × NVMe)" {
		t.Errorf("%+v", f)
	}
	h.Exec = nil
	if f := probe(t, h).Filesystems.Items[0]; f.Drives.IsKnown() || strings.Join(f.Stack.Value, " ") != "zfs" {
		t.Errorf("without zpool: %+v", f)
	}
}

// TestMounts: one entry per device with every place where it shows, the root of a container, network file systems, and what is hidden.
func TestMounts(t *testing.T) {
	const block = "sys/devices/virtual/block/"
	h := tree(t, disks(map[string]string{"sda": "", "sdb": "", "sdc": ""}, map[string]string{
		"sys/dev/block/8:0": "-> /" + block + "sda", "sys/dev/block/8:16": "-> /" + block + "sdb", "sys/dev/block/8:32": "-> /" + block + "sdc",
		"proc/self/mountinfo": "1 0 0:30 / / rw - overlay overlay rw,lowerdir=/x\n" +
			"2 1 8:0 /models /srv/models ro - xfs /dev/sda rw\n" +
			"3 1 8:0 / /mnt/a rw - xfs /dev/sda rw\n" +
			"4 1 8:16 / /mnt/b rw - ext4 /dev/sdb rw\n" +
			"5 1 8:32 / /mnt/b rw - ext4 /dev/sdc rw\n" + // hides the one before
			"6 1 0:31 / /n rw - nfs4 filer:/x rw,addr=10.0.0.1,vers=4.2\n" +
			"7 1 0:32 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw\n" +
			"8 1 0:33 / /dev/shm rw - tmpfs tmpfs rw\n",
	}))
	got := map[string][]string{}
	for _, f := range probe(t, h).Filesystems.Items {
		got[f.Mount.Value] = append(f.Mounts.Value, f.Device.Value)
		if na := f.Drives.NA != ""; na != (f.FSType.Value == "nfs4") { // a container's root has drives, which do not show
			t.Errorf("%s: %+v", f.Mount.Value, f.Drives)
		}
	}
	want := map[string][]string{"/": {"/", ""}, "/mnt/a": {"/mnt/a", "/srv/models", "sda"}, "/mnt/b": {"/mnt/b", "sdc"}, "/n": {"/n", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDrives: what a drive stores by, how it is reached and what is no drive.
func TestDrives(t *testing.T) {
	const pciDir = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
	h := tree(t, map[string]string{
		"sys/block/nvme0n1": "-> /" + pciDir + "/nvme/nvme0/nvme0n1", pciDir + "/nvme/nvme0/nvme0n1/size": "3125627568", pciDir + "/nvme/nvme0/nvme0n1/device": "-> ..",
		pciDir + "/nvme/nvme0/nvme0n1/queue/scheduler": "[none] mq-deadline", pciDir + "/nvme/nvme0/model": "Dell Ent NVMe PM1735a MU 1.6TB    ", pciDir + "/nvme/nvme0/firmware_rev": "2.3.0",
		pciDir + "/nvme/nvme0/transport": "pcie", pciDir + "/nvme/nvme0/state": "live", pciDir + "/nvme/nvme0/device": "-> ../..", pciDir + "/current_link_speed": "16.0 GT/s PCIe", pciDir + "/current_link_width": "4",
		"sys/block/nvme1n1": "-> /sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1", "sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1/size": "2048",
		"sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1/device": "-> ..", "sys/devices/virtual/nvme-subsystem/nvme-subsys1/model": "Fabric", "sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1": "-> /sys/devices/virtual/nvme-fabrics/ctl/nvme1",
		"sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport": "tcp", "sys/devices/virtual/nvme-fabrics/ctl/nvme1/state": "connecting",
		"sys/block/nvme1c1n1/size": "2048", // a hidden path
		"sys/block/sda":            "-> /sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0/0:0:0:0/block/sda", "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0/0:0:0:0/block/sda/size": "2048",
		"sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0/0:0:0:0/block/sda/device": "-> ../..", "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0/0:0:0:0/model": "Spinner", "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0/0:0:0:0/block/sda/queue/rotational": "1",
		"sys/block/sdb/size": "2048", "sys/block/sdb/device/model": "PERC H755 Front", "sys/block/sdb/queue/rotational": "1",
		"sys/block/sdc/size": "2048", "sys/block/sdc/device/vendor": "NVMe    ", "sys/block/sdc/queue/rotational": "0",
		"sys/block/sdd/size": "0", "sys/block/zram0/size": "2048", "sys/block/dm-0/size": "2048", "sys/block/vda/size": "2048", "sys/block/vda/queue/rotational": "1",
	})
	got := map[string][]string{}
	var first sut.Drive
	for _, d := range probe(t, h).Devices.Items {
		got[d.Name.Value] = []string{d.Kind.Value, d.Transport.Value, d.Health.State.Value}
		if d.Name.Value == "nvme0n1" {
			first = d
		}
	}
	want := map[string][]string{"nvme0n1": {"nvme", "pcie", "live"}, "nvme1n1": {"nvme", "tcp", "connecting"}, "sda": {"hdd", "sata", ""}, "sdb": {"", "", ""}, "sdc": {"nvme", "", ""}, "vda": {"", "", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if first.Bytes.Value != 1600321314816 || first.Firmware.Value != "2.3.0" || first.Scheduler.Value != "none" || first.Link.GTS.Value != 16 || first.Link.Width.Value != 4 || first.Health.Passed.Unknown == "" {
		t.Errorf("%+v", first)
	}
}

// TestServersThatHang: network file systems that do not answer cost their own sizes, and together the time of one.
func TestServersThatHang(t *testing.T) {
	files := tree(t, map[string]string{"proc/self/mountinfo": "1 0 0:40 / /a rw - nfs4 s:/a rw\n2 0 0:41 / /b rw - nfs4 s:/b rw\n3 0 0:42 / /c rw - nfs4 s:/c rw\n", "sys/block/x": ""})
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := host.Live()
		h.Root, h.Exec = files.Root, nil
		h.Statfs = func(mount string) (host.Statfs, error) {
			if mount != "/b" {
				<-release
			}
			return host.Statfs{Bytes: 7}, nil
		}
		start := time.Now()
		list := probe(t, h).Filesystems.Items
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
		if len(list) != 3 || list[0].Bytes.Unknown == "" || list[1].Bytes.Value != 7 || list[2].Bytes.Unknown == "" || list[2].FSType.Value != "nfs4" {
			t.Errorf("%+v", list)
		}
		close(release)
		synctest.Wait()
	})
}

func TestMountinfo(t *testing.T) {
	got := parseMountinfo("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\nbroken\n1 2 0:3 / / rw - \n")
	want := []mount{{"98:0", "/mnt1", "/mnt 2", "ext3", "/dev/root", "rw,noatime,rw,errors=continue"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mount{})); diff != "" {
		t.Error(diff)
	}
}

func FuzzMountinfo(f *testing.F) {
	f.Add("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range uncovered(parseMountinfo(text)) {
			if m.fstype == "" || m.device == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}

const captured = "../../../shared/fixtures/system"

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(captured, name))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	return b
}

// TestRealLsblk reads what lsblk printed on three machines whose kernel's files nobody kept.
func TestRealLsblk(t *testing.T) {
	for name, want := range map[string][]string{
		"lsblk.withlv.censored.json": {"/boot/efi: vfat (/boot/efi; 1 × NVMe)", "/: ext4 on md raid1 (/; 2 × NVMe)", "/mnt/local_disk: ext4 on LVM (/mnt/local_disk; 4 × NVMe)"},
		"lsblk.xfs_vfat.json":        {"/snap/core20/2321: squashfs on loop (/snap/core20/2321; drives unknown)", "/snap/core20/2690: squashfs on loop (/snap/core20/2690; drives unknown)", "/snap/lxd/29353: squashfs on loop (/snap/lxd/29353; drives unknown)", "/demo-data-disk: ext4 on LVM (/demo-data-disk; 1 × NVMe)", "/boot/efi: vfat (/boot/efi; 1 × NVMe)", "/: XFS (/; 1 × NVMe)"},
	} {
		b := fixture(t, "storage-gpud/"+name)
		s := probe(t, host.Host{Root: t.TempDir(), Exec: func(_ context.Context, argv ...string) (host.Output, error) {
			if argv[0] == "lsblk" {
				return host.Output{Stdout: b}, nil
			}
			return host.Output{}, host.ErrNotFound
		}})
		var got []string
		for _, f := range s.Filesystems.Items {
			got = append(got, f.Mount.Value+": "+f.Summary.Value)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, d := range s.Devices.Items {
			if !d.Bytes.IsKnown() || d.Bytes.Value == 0 || d.Kind.Value != "nvme" && d.Name.Value != "sda" {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
	for _, name := range []string{"lsblk.1.json", "lsblk.5.json"} {
		tree, err := parseLsblk(fixture(t, "storage-gpud/"+name))
		if err != nil || len(tree.drives) == 0 {
			t.Errorf("%s: %+v %v", name, tree, err)
		}
	}
}

// TestRealMounts reads findmnt's form of a folder that is mounted, and the mounts of a container of LXC.
func TestRealMounts(t *testing.T) {
	for name, want := range map[string]mount{
		"findmnt.0.json": {"0:0", "/var/lib/lxc/ct01-lxc/rootfs", "/", "ext4", "/dev/mapper/vgroot-lvroot", ""},
		"findmnt.1.json": {"0:0", "/kubelet", "/var/lib/kubelet", "ext4", "/dev/mapper/vg-data", ""},
	} {
		got, err := parseFindmnt(fixture(t, "storage-gpud/"+name))
		if diff := cmp.Diff([]mount{want}, got, cmp.AllowUnexported(mount{})); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	h := tree(t, map[string]string{"sys/block/x": "", "proc/self/mountinfo": string(fixture(t, "storage-gpud/mountinfo"))})
	list := probe(t, h).Filesystems.Items
	if len(list) == 0 || list[0].Mount.Value != "/" || list[0].Device.Value != "vgroot-lvroot" || list[0].Drives.Unknown == "" || strings.Join(list[0].Stack.Value, " ") != "ext4" {
		t.Errorf("%+v", list)
	}
}

// TestSmartctl: a good drive, and what a tool says that may not look.
func TestSmartctl(t *testing.T) {
	got, err := parseSmartctl(fixture(t, "smartctl/nvme.json"))
	if err != nil || !got.Passed.Value || !got.CriticalWarning.IsKnown() || got.CriticalWarning.Value != 0 || got.UsedPct.Value != 4 || got.MediaErrors.Value != 0 {
		t.Errorf("%+v %v", got, err)
	}
	for in, want := range map[string]string{
		`{"smartctl":{"messages":[{"string":"Smartctl open device: /dev/nvme0 failed: Permission denied","severity":"error"}],"exit_status":2}}`: "needs root (smartctl)",
		`{"smartctl":{"messages":[{"string":"Device is in STANDBY mode, exit(2)"}]}}`:                                                            "the disk rests, and was not woken to be asked",
		`{}`: "smartctl tells nothing of this drive's health", ``: "smartctl's output cannot be read", `{"smart_status":`: "smartctl's output cannot be read",
	} {
		if _, err := parseSmartctl([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", in, err)
		}
	}
	if got, err := parseSmartctl([]byte("warning first\n" + `{"smart_status":{"passed":false},"nvme_smart_health_information_log":{"critical_warning":4,"percentage_used":-1}}`)); err != nil || got.Passed.Value || !got.Passed.IsKnown() || got.CriticalWarning.Value != 4 || got.UsedPct.IsKnown() {
		t.Errorf("%+v %v", got, err)
	}
}

// TestHealthHangs: a drive whose tool never answers costs its own health only.
func TestHealthHangs(t *testing.T) {
	h := tree(t, disks(map[string]string{"nvme0n1": "", "nvme1n1": ""}, nil))
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	h.Exec = func(_ context.Context, argv ...string) (host.Output, error) {
		if path.Base(argv[len(argv)-1]) == "nvme0n1" {
			<-stuck
		}
		return host.Output{Stdout: []byte(`{"smart_status":{"passed":true}}`)}, nil
	}
	s := probe(t, h)
	if d := s.Devices.Items; d[0].Health.Passed.Unknown == "" || !d[1].Health.Passed.Value {
		t.Errorf("%+v", d)
	}
}

func FuzzTools(f *testing.F) {
	f.Add([]byte(`{"blockdevices":[{"name":"sda","type":"disk","size":"10","children":[{"name":"sda1","mountpoints":[null,"/"]}]}]}`))
	f.Add([]byte(`{"filesystems":[{"target":"/","source":"/dev/sda1[/x]","fstype":"ext4"}]}`))
	f.Add([]byte(`{"smart_status":{"passed":true},"nvme_smart_health_information_log":{"critical_warning":0}}`))
	f.Add([]byte("config:\n tank\n  mirror-0\n   /dev/sda\nerrors:"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if tree, err := parseLsblk(b); err == nil {
			for name := range tree.devices {
				under(func(n string) (device, bool) { d, ok := tree.devices[n]; return d, ok }, name)
			}
		}
		_, _ = parseFindmnt(b)
		if h, err := parseSmartctl(b); err == nil && h.CriticalWarning.IsKnown() && h.CriticalWarning.Value < 0 {
			t.Errorf("%+v", h)
		}
		parseZpool(string(b))
	})
}

// TestReadable: what cannot be read says why.
func TestUnreadable(t *testing.T) {
	s := probe(t, host.Host{Root: t.TempDir(), Exec: func(context.Context, ...string) (host.Output, error) { return host.Output{}, errors.New("no") }})
	if s.Devices.Unknown == "" || s.Filesystems.Unknown == "" {
		t.Errorf("%+v", s)
	}
}
