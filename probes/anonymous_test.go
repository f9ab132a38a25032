package probes

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/fault"
)

// leak finds in a text what names a machine, a device, a person or an account. The numbers that stand in place of real ones in public
// captures are among it.
func leak(text string) string {
	for _, re := range []string{
		`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, // UUID
		`(?i)\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b`,                                 // MAC address
		`(?i)\b([0-9a-f]{2}-){5}[0-9a-f]{2}\b`,                                 // the same, and a PCI serial number
		`(?i)\b([0-9a-f]{4}:){3}[0-9a-f]{4}\b`,                                 // GUID
		`\b(10\.\d{1,3}|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\.\d{1,3}\.\d{1,3}\b`,
		`(?i)fe80::`, `(?i)\b0x[fF]0{12,14}[0-9a-fA-F]+\b`, `\b1650000000\d{3}\b`, `SN-EX-\d+`, `\bhost01\b`,
		`\bhf_[A-Za-z0-9]{16,}`, `\bsk-[A-Za-z0-9]{16,}`,
		`(?i)SECRET[-_]?\d`, // what the hosts of these tests hide
	} {
		for _, m := range regexp.MustCompile(re).FindAllString(text, -1) {
			if strings.Trim(m, "0-:xX") != "" && !strings.HasPrefix(m, "00000000-0000-0000") {
				at := strings.Index(text, m)
				return m + " in " + text[max(0, at-60):min(len(text), at+60)]
			}
		}
	}
	return ""
}

// TestNothingLeaks reads and captures every machine that is at hand, and looks for names and numbers in the document and the capture.
func TestNothingLeaks(t *testing.T) {
	all := map[string]func(*testing.T) Host{"live": func(*testing.T) Host { return Live() }, "loaded": loadedHost}
	for _, dir := range hosts(t) {
		all[filepath.Base(dir)] = func(t *testing.T) Host { return openCapture(t, dir) }
	}
	for _, f := range captures() {
		if f.apart == "" {
			all[f.name] = f.host
		}
	}
	for name, open := range all {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			if found := leak(string(document(t, Read(t.Context(), h, Program{})))); found != "" {
				t.Errorf("the document holds %s", found)
			}
			_, b := captureOf(t, h)
			if found := leak(string(unpacked(t, b))); found != "" {
				t.Errorf("the capture holds %s", found)
			}
		})
	}
}

// loadedHost is a host on which every source that a probe or a capture asks names what it should not: each secret begins with SECRET.
func loadedHost(t *testing.T) Host {
	t.Helper()
	dir := t.TempDir()
	outputs := map[string]string{
		"amd-smi list --json":    `[{"gpu":0,"bdf":"0000:0c:00.0","uuid":"f0ff74a1-0000-1000-8000-0000000000aa"}]`,
		"amd-smi static --json":  "WARNING on SECRET-15.example.org\n" + `[{"gpu":0,"asic":{"asic_serial":"0xF00000000000000A","market_name":"AMD Instinct MI300X"},"board":{"product_serial":"SECRET2"}}]`,
		"amd-smi process --json": `[{"gpu":0,"process_list":[{"process_info":{"name":"/home/alice/run.py","pid":7}}]}]`,
		"rocminfo":               "  Uuid:                    GPU-f00000000000000a\n  Marketing Name: AMD Instinct MI300X\n",
		"rocm-smi -a --json":     `{"card0":{"Unique ID":"0xf00000000000000a","Serial Number":"SECRET3"}}`,
		"docker info --format json": `{"ID":"SECRET4","Name":"SECRET5","ServerVersion":"29.2.1","DockerRootDir":"/var/lib/docker","HttpProxy":"http://bob:SECRET6@proxy:3128","Labels":["rack=SECRET7"],
			"RegistryConfig":{"IndexConfigs":{"SECRET8.example.org":{}}},"Swarm":{"NodeAddr":"10.1.2.3"},"OperatingSystem":"Ubuntu"}`,
		"lspci -vvv": "1b:00.0 Ethernet controller\n\tCapabilities: [148 v1] Device Serial Number 94-6d-ae-03-00-aa-bb-cc\n\t\t\t[SN] Serial number: SECRET9\n\t\t\t[PN] Part number: P1\n",
		"lsblk -OJ":  `{"blockdevices":[{"name":"nvme0n1","serial":"SECRET10","wwn":"eui.SECRET11","uuid":"0a1b2c3d-1111-4222-8333-444455556666","partlabel":"SECRET12","size":"1.6T"}]}`,
		"ibstat":     "CA 'mlx5_0'\n\tCA type: MT4129\n\tNode GUID: 0x946dae0300aabbcc\n\tSystem image GUID: 0x946dae0300aabbcc\n\t\tPort GUID: 0x946dae0300aabbcd\n",
		"dmesg": "[    0.000000] Command line: root=UUID=0a1b2c3d-1111-4222-8333-444455556666 token=SECRET13\n[    1.0] usb 1-1: SerialNumber: SECRET14\n[    2.0] eth0: address 02:00:5e:10:00:01\n" +
			"[    3.0] nfs: server 10.20.30.40 not responding\n[    4.0] systemd[1]: Hostname set to <SECRET-15.example.org>\n",
		"smartctl -i --json /dev/nvme0": `{"serial_number":"SECRET16","model_name":"X"}`,
		"findmnt -J":                    `{"filesystems":[{"target":"/data","source":"/dev/disk/by-id/nvme-Dell_SECRET17-part1","fstype":"xfs"}]}`,
		"ipmitool mc info":              "Firmware Revision : 1.0\nGUID : SECRET18\n",
	}
	writeCommands(t, dir, outputs)
	for name, text := range map[string]string{
		"uname.json":                            `{"nodename":"SECRET-15.example.org","release":"6.8.0"}`,
		"proc/cmdline":                          "quiet hf_token=SECRET19 api_key=SECRET20",
		"proc/net/tcp":                          "  sl  local_address rem_address   st\n   0: 0A01020A:1E61 00000000:0000 0A\n   1: 0A01020A:1E61 0B01020A:D431 01\n",
		"sys/class/infiniband/mlx5_0/node_guid": "946d:ae03:00aa:bbcc",
		"sys/class/infiniband/mlx5_0/ports/1/gids/0":       "fe80:0000:0000:0000:946d:ae03:00aa:bbcc",
		"sys/class/infiniband/mlx5_0/ports/1/rate":         "400 Gb/sec (4X NDR)",
		"sys/class/infiniband/mlx5_0/ports/1/state":        "4: ACTIVE",
		"sys/class/nvme/nvme0/serial":                      "SECRET21",
		"sys/class/nvme/nvme0/model":                       "Dell Ent NVMe",
		"sys/class/dmi/id/board_serial":                    "SECRET22",
		"sys/class/dmi/id/product_uuid":                    "0a1b2c3d-1111-4222-8333-444455556666",
		"sys/class/net/eth0/address":                       "02:00:5e:10:00:01",
		"sys/class/net/eth0/operstate":                     "up",
		"sys/class/dmi/id/product_name":                    "Box of SECRET-15",
		"redfish/v1/Managers/bmc/index.json":               `{"@odata.type":"#Manager.v1_9_0.Manager","UUID":"0a1b2c3d-1111-4222-8333-444455556666","FirmwareVersion":"2.1","HostName":"SECRET23","SerialConsole":"SECRET24"}`,
		"redfish/v1/Systems/a/index.json":                  `{"@odata.type":"#ComputerSystem.v1_9_0.ComputerSystem","Model":"XE9680","SerialNumber":"SECRET25","SKU":"SECRET26","HostName":"SECRET-15"}`,
		"proc/driver/nvidia/gpus/0000:1b:00.0/information": "Model: NVIDIA H100\nGPU UUID: GPU-0a1b2c3d-1111-4222-8333-4444555566aa\n",
		"proc/driver/nvidia/params":                        "RmMsg: \"\"\n",
		"etc/os-release":                                   "PRETTY_NAME=\"Ubuntu 24.04\"\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return openCapture(t, dir)
}

// TestSalt: one serial number has another hash at another site, and a capture keeps that of its own.
func TestSalt(t *testing.T) {
	hash := func(h Host) string {
		s := Read(t.Context(), h, Program{})
		if len(s.Accelerators.Items) == 0 || !s.Accelerators.Items[0].SerialHash.IsKnown() {
			t.Fatalf("no serial number: %+v", s.Accelerators)
		}
		return s.Accelerators.Items[0].SerialHash.Value
	}
	here := secretHost(t)
	unsalted := hash(here)
	here.Salt = "site a"
	a := hash(here)
	if again := hash(here); again != a || a == unsalted {
		t.Errorf("%s and %s of one site; %s without a salt", a, again, unsalted)
	}
	there := here
	there.Salt = "site b"
	if b := hash(there); b == a {
		t.Errorf("two sites have the hash %s", b)
	}
	path, _ := captureOf(t, here)
	if kept := hash(openCapture(t, path)); kept != a {
		t.Errorf("a capture of site a has the hash %s, not %s", kept, a)
	}
}

// TestBrokenCaptures: an archive or a document that is broken is a fault in words.
func TestBrokenCaptures(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no JSON":        {"commands.json": "{"},
		"another shape":  {"commands.json": `{"argv":1}`},
		"sizes of texts": {"sys/x": "1", "statfs.json": `{"/":{"bytes":"many"}}`},
	} {
		dir := t.TempDir()
		for file, text := range files {
			write(t, filepath.Join(dir, file), text)
		}
		var told *fault.Fault
		if _, _, err := FromCapture(t.Context(), dir); !errors.As(err, &told) || told.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
