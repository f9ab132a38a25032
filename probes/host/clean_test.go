package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/fault"
)

// anyCleaner is that of a host with a name.
func anyCleaner() cleaner {
	r := &recording{uname: &Uname{Nodename: "gpu-node-17.example.org"}, files: map[string][]byte{"/etc/x": []byte("/home/alice/x")}}
	return r.cleaner(Host{Salt: "here"})
}

// places are where a text may stand: what a program printed, a file, a name.
func places() []string {
	return []string{
		"nvidia-smi", "amd-smi", "lspci", "dmesg", "docker", "ipmitool", "other", "name",
		"/proc/cmdline", "/proc/self/mountinfo", "/run/udev/data/+dmi:id", "/sys/x/unique_id", "/sys/x/serial", "/sys/class/kfd/kfd/topology/nodes/1/properties", "/redfish/v1/x/index.json",
		"/dev/kmsg", "/proc/self/net/tcp", "/proc/7/environ", "/proc/7/cmdline", "/etc/other",
	}
}

// cleaned is what becomes of a text at a place.
func cleaned(c cleaner, place, text string) string {
	switch {
	case place == "name":
		return c.name(text)
	case place[0] == '/':
		return string(c.file(place, []byte(text)))
	}
	return string(c.output([]string{place}, []byte(text)))
}

// TestSecretsAreCut: what is known by its form is cut wherever it stands.
func TestSecretsAreCut(t *testing.T) {
	for _, secret := range []string{
		"hf_abcdefghijklmnopqrst", "sk-abcdefghijklmnop1234", "ghp_abcdefghijklmnopqrstuvwxyz", "AKIAABCDEFGHIJKLMNOP", "0a1b2c3d-1111-4222-8333-444455556666", "02:00:5e:10:00:01",
		"946d:ae03:00aa:bbcc", "02-00-5e-10-00-01", "8000.02005e100001", "wlx02005e100001", "0a1b2c3d111142228333444455556666", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln",
	} {
		for _, place := range places() {
			if text := cleaned(anyCleaner(), place, "x "+secret+" y\n"); strings.Contains(text, secret) {
				t.Errorf("%s keeps %s: %q", place, secret, text)
			}
		}
	}
	for _, text := range []string{"HF_TOKEN=s3cret-x", "export AWS_SECRET_ACCESS_KEY=s3cret-x", "https://bob:s3cret-x@host/y", `{"password": "s3cret-x"}`, `"Serial_Number" : "s3cret-x"`,
		"nvme0: a drive failed, SN: s3cret-x", "S/N=s3cret-x"} {
		if got := string(anyCleaner().output([]string{"other"}, []byte(text))); strings.Contains(got, "s3cret") {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestOwnersAreCut: what names an owner's servers, people, accounts and drives in the words of one source.
func TestOwnersAreCut(t *testing.T) {
	const secret = "s3cret"
	for place, texts := range map[string][]string{
		"/proc/self/mountinfo": {
			"31 25 0:40 / /mnt rw - nfs4 s3cret.example.org:/x rw,addr=10.9.9.9,user=s3cret", "32 25 0:41 / /mnt rw - cifs //s3cret/x rw,password=s3cret", "33 25 0:43 / /mnt rw - 9p s3cret rw",
			"34 25 0:45 / /mnt rw - fuse.goofys s3cret rw", "35 25 0:47 / /nfs/users/s3cret rw - ext4 /dev/vdb rw",
		},
		"/sys/class/nvme/nvme0/dhchap_secret": {"DHHC-1:00:s3cret:"}, "/sys/class/nvme/nvme0/hostnqn": {"nqn.2014-08.org.nvmexpress:uuid:s3cret"}, "/sys/class/nvme/nvme0/address": {"traddr=s3cret,trsvcid=4420"},
		"/sys/class/net/eth0/ifalias": {"uplink to s3cret"}, "/sys/class/net/eth0/phys_port_id": {"s3cret"},
		"/sys/class/infiniband/mlx5_0/node_desc": {"s3cret mlx5_0"},
		"findmnt":                                {`{"filesystems":[{"target":"/x","source":"s3cret:/x","fstype":"nfs4","options":"rw,addr=s3cret","children":[{"target":"/y","source":"s3cret","fstype":"9p"}]}]}`},
		"docker": {
			`{"DockerRootDir":"/d","RegistryConfig":{"Mirrors":["https://s3cret"]},"Warnings":["s3cret"],"ClientInfo":{"Context":"s3cret"},"Runtimes":{"x":{"runtimeArgs":["s3cret"]}}}`,
			`[{"Config":{"Env":["KEY_OF=s3cret"],"Entrypoint":["s3cret"]}}]`,
		},
		"smartctl": {`{"wwn":{"naa":5,"oui":1,"id":"s3cret"},"nvme_namespaces":[{"eui64":{"oui":1,"ext_id":"s3cret"}}]}`},
		"dmesg": {
			"[    2.1] nfs: server s3cret not responding\n", "[    2.7] audit: exe=x acct=\"s3cret\"\n", "[    2.3] nvme nvme0: new ctrl: NQN \"nqn.1994-11.com.samsung:nvme:s3cret\", addr 10.4.4.4\n",
			"[    0.0] Kernel command line: root=nfs:s3cret.corp:/x quiet\n",
			"[    1.0] nvme nvme0: serial s3cret-1234\n", "[    1.1] nvme nvme0: S/N s3cret-1234\n",
		},
		"/dev/kmsg": {"6,339,5140900,-;systemd[1]: Hostname set to <s3cret>.\n"},
		"lsblk":     {`{"name":"x","owner":"s3cret"}`},
	} {
		for _, text := range texts {
			once := cleaned(anyCleaner(), place, text)
			if strings.Contains(once, secret) {
				t.Errorf("%s keeps %q", place, once)
			}
			if twice := cleaned(anyCleaner(), place, once); twice != once {
				t.Errorf("%s: %q becomes %q", place, once, twice)
			}
		}
	}
	process := anyCleaner().output([]string{"amd-smi", "process", "--json"}, []byte(`{"process_info":{"name":"/opt/x/run.py --key s3cret","user":"s3cret"}}`))
	if string(process) != `{"process_info":{"name":"run.py","user":"cut"}}` {
		t.Errorf("%s", process)
	}
	for text, want := range map[string]string{
		"/dev/mapper/3600508b400105e210000900000490000-part1": `^/dev/mapper/device-[0-9a-f]{8}-part1$`, "enx0a1b2c3d4e5f": "^enx-mac$", "/dev/mapper/35000c500a1b2c3d4": `^/dev/mapper/device-[0-9a-f]{8}$`,
	} {
		if got := anyCleaner().name(text); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestFactsStay: what is no secret stays as it is.
func TestFactsStay(t *testing.T) {
	for _, text := range []string{
		`{"gpu_data":[{"gpu":0,"asic":{"market_name":"AMD Instinct MI300X"},"vram":{"size":{"value":196592,"unit":"MB"}}}]}`, `{"size":1600321314816,"model":"Dell Ent NVMe"}`, "0000:1b:00.0", "driver 7.1.0.0",
		"16.0 GT/s PCIe", `"asic_serial": "N/A"`, "nvme-cli version 2", "00000000:00:1f.2", "ConnectX-7 28.41.1000", "mem 0x000000a0",
	} {
		for _, program := range []string{"amd-smi", "lsblk", "other"} {
			if got := string(anyCleaner().output([]string{program}, []byte(text))); got != text {
				t.Errorf("%s: %q becomes %q", program, text, got)
			}
		}
	}
}

// TestNumbersOfTheWorldAreCut: a controller, a disk and a fabric of GPUs are known by a number that the kernel logs or shows.
func TestNumbersOfTheWorldAreCut(t *testing.T) {
	const number = "500605b00f3c2a10"
	for place, texts := range map[string][]string{
		"dmesg": {"mpt3sas_cm0: host_add: handle(0x0001), sas_addr(0x500605b00f3c2a10), phys(8)", "scsi 0:0:1:0: enclosure logical id (0x500605b00f3c2a10), slot(0)", "device_name(0x500605b00f3c2a10)",
			"amdgpu: XGMI: Add node 0, hive 0x500605b00f3c2a10", "lpfc 0000:3b:00.0: WWPN 500605B00F3C2A10", "ata1.00: WWN 0x500605b00f3c2a10"},
		"/sys/bus/pci/devices/0000:1b:00.0/xgmi_hive_info/xgmi_hive_id": {number}, "/sys/bus/pci/devices/0000:1b:00.0/xgmi_device_id": {number}, "/sys/bus/pci/devices/0000:1b:00.0/fru_id": {number},
	} {
		for _, text := range texts {
			once := cleaned(anyCleaner(), place, text+"\n")
			if strings.Contains(strings.ToLower(once), number) {
				t.Errorf("%s keeps %q", place, once)
			}
			if twice := cleaned(anyCleaner(), place, once); twice != once {
				t.Errorf("%s: %q becomes %q", place, once, twice)
			}
		}
	}
}

// TestQueriedColumnsAreCut: a query's columns that name a board, its rack or its host, whatever they look like.
func TestQueriedColumnsAreCut(t *testing.T) {
	argv := []string{"nvidia-smi", "--query-gpu=name,serial,power.draw,platform.chassis_serial_number,platform.gpu_fabric_guid,hostname", "--format=csv"}
	const table = "name, serial, power.draw [W], platform.chassis_serial_number, platform.gpu_fabric_guid, hostname\n"
	got := string(anyCleaner().output(argv, []byte(table+"NVIDIA H100, K12345, 70.00 W, CHS98, 0x8af5f6a5f4d5c6b7, aurora\nNVIDIA H100, [N/A], 71.00 W, N/A, [N/A], x\ns3cret\n")))
	if want := table + "NVIDIA H100, cut, 70.00 W, cut, cut, cut\nNVIDIA H100, [N/A], 71.00 W, N/A, [N/A], cut\n"; got != want {
		t.Error(got)
	}
	if again := string(anyCleaner().output(argv, []byte(got))); again != got {
		t.Errorf("then %s", again)
	}
}

// TestNodeNames: volume groups and mounts are named after their machine.
func TestNodeNames(t *testing.T) {
	r := &recording{uname: &Uname{Nodename: "aurora"}}
	c := r.cleaner(Host{})
	for place, text := range map[string]string{
		"/sys/block/dm-0/dm/name": "aurora--vg-root", "/proc/cmdline": "root=/dev/mapper/aurora--vg-root", "/proc/self/mountinfo": "22 1 253:0 / /data/aurora rw - xfs /dev/mapper/rhel_aurora-root rw\n",
		"lsblk": `{"name":"aurora--vg-root"}`, "findmnt": `{"source":"/dev/mapper/aurora--vg-root"}`,
	} {
		if got := cleaned(c, place, text); strings.Contains(got, "aurora") || !strings.Contains(got, "[host]") {
			t.Errorf("%s: %q becomes %q", place, text, got)
		}
	}
	h := Host{Uname: func() (Uname, error) { return Uname{Nodename: "aurora"}, nil }}
	if got := h.SafePaths()("/data/aurora/10.1.2.3"); got != "/data/[host]/[ip]" {
		t.Error(got)
	}
}

// FuzzCleaner: cleaning twice changes nothing more, and a key or number that stands in the text is gone.
func FuzzCleaner(f *testing.F) {
	for _, s := range []string{
		"", "HF_TOKEN=abc", `{"serial":"1"}`, `{"Name":"x","DockerRootDir":"/"}`, "Serial Number : 1", "25 1 8:1 / /x rw - ext4 /dev/sda1 rw", "/dev/disk/by-id/nvme-X_1", "unique_id 5\n", `"asic_serial": "0xf0"`,
		"Command line: token=1", "<serial>1</serial>", "   0: 0A01020A:1E61 00000000:0000 0A", "://a:b@", "hash:0011223344556677", "E:MEMORY_DEVICE_0_SIZE=1\n", "GPU-0a1b2c3d-1111-4222-8333-444455556666",
	} {
		f.Add(s)
	}
	const key, number, node = "hf_abcdefghijklmnopqrst", "0a1b2c3d-1111-4222-8333-444455556666", "gpu-node-17"
	c := anyCleaner()
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
			return
		}
		for _, place := range places() {
			text := cleaned(c, place, s)
			if again := cleaned(c, place, text); again != text {
				t.Errorf("%s: %q becomes %q, then %q", place, s, text, again)
			}
			text = cleaned(c, place, s+" "+key+" "+number+" "+node+" ")
			for _, secret := range []string{key, number, node} {
				if strings.Contains(text, secret) {
					t.Errorf("%s keeps %s: %q", place, secret, text)
				}
			}
		}
	})
}

// packed is a tar.gz of these entries.
func packed(t testing.TB, entries map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for name, text := range entries {
		hdr := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(text))}
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			hdr.Typeflag, hdr.Linkname, hdr.Size = tar.TypeSymlink, target, 0
			text = ""
		}
		if err := errors.Join(tw.WriteHeader(hdr), func() error { _, err := tw.Write([]byte(text)); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzCapture opens archives of any kind: it gives a host or a fault, and writes nothing beside its own folder.
func FuzzCapture(f *testing.F) {
	f.Add(packed(f, map[string]string{"proc/cmdline": "quiet", "commands.json": `[{"argv":["a"],"stdout":"b"}]`}))
	f.Add(packed(f, map[string]string{"../escape": "x", "proc/x": "1"}))
	f.Add(packed(f, map[string]string{"sys/a": "-> /etc", "sys/a/b": "x"}))
	f.Add(packed(f, map[string]string{"x/proc/cmdline": "quiet"}))
	f.Add([]byte("no archive"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		inside := filepath.Join(dir, "in")
		name := filepath.Join(inside, "c.tar.gz")
		if err := errors.Join(os.Mkdir(inside, 0o755), os.WriteFile(name, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", inside)
		h, done, err := FromCapture(t.Context(), name)
		if err == nil {
			h.Run(t.Context(), "a") //nolint:errcheck // any answer will do
			h.Text("/proc/cmdline") //nolint:errcheck // any answer will do
			err = done()
		}
		var told *fault.Fault
		if err != nil && !errors.As(err, &told) {
			t.Errorf("%v is no fault", err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%d entries beside the capture's folder, %v", len(entries), err)
		}
		if left, _ := os.ReadDir(inside); len(left) != 1 {
			t.Errorf("%d entries are left", len(left))
		}
	})
}

// FuzzCaptureDocuments opens captures whose documents hold anything.
func FuzzCaptureDocuments(f *testing.F) {
	f.Add([]byte(`[{"argv":["nvidia-smi","-q"],"exit":0,"stdout":"../../etc/passwd","stderr":""}]`), []byte(`{"/":{"bytes":1}}`))
	f.Add([]byte(`[{"argv":[]},{"argv":["a"],"stdout":"cmd/1.out"}]`), []byte(`null`))
	f.Add([]byte(`{}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, commands, others []byte) {
		dir := t.TempDir()
		for name, b := range map[string][]byte{"commands.json": commands, "statfs.json": others, "uname.json": others, "clock.json": others, "failed.json": others} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h, _, err := FromCapture(t.Context(), dir)
		if err != nil {
			return
		}
		var list []capturedCommand
		if json.Unmarshal(commands, &list) != nil {
			return
		}
		for _, c := range list {
			if len(c.Argv) > 0 {
				out, err := h.Run(t.Context(), c.Argv...)
				if err == nil && strings.Contains(string(out.Stdout), "root:") {
					t.Errorf("%v reads a file of this machine", c.Argv)
				}
			}
		}
		if _, err := h.Size("/"); err != nil && errors.Is(err, fs.ErrNotExist) {
			t.Error("a bare error of the file system")
		}
	})
}
