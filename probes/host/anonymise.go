package host

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"assay/probes/disguise"
	"assay/probes/smbios"
)

// cleaner takes out of a capture what names the machine, its place or its owner.
type cleaner struct {
	host  disguise.Node // in files that may hold it
	plain disguise.Node // in all others
	homes func(string) string
	bmc   func(string) string // serial numbers in a BMC's answers and in their paths
	ids   func(string) string
	mark  func(serial string) string // a serial number as its hash

	addresses []identifier
	numbers   []identifier // those that nothing else looks like: UUIDs, MAC addresses, alone and in names, and GUIDs
	secrets   func(string) string
	disks     func(string) string
	patterns
}

func (r *recording) cleaner(h Host) cleaner {
	c := cleaner{homes: r.homes(), bmc: r.bmcSerials(), ids: WithoutIDs(), mark: h.marked, numbers: identifiers()[:4], secrets: withoutSecrets(), disks: disguise.Disks(), patterns: outputPatterns(), addresses: identifiers()}
	if r.uname != nil {
		c.host, c.plain = disguise.InAnyCase(r.uname.Nodename), disguise.AsWritten(r.uname.Nodename)
	}
	return c
}

func compile(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(strings.Join(patterns, "|"))
}

// identifier is a text that names a machine and what is put in its place.
type identifier struct {
	re  *regexp.Regexp
	put string
}

// podID and containerID stand in the names of control groups, machineID in the paths of kernels and in the command line.
const (
	podID       = `pod[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}`
	containerID = `\b[0-9a-f]{64}\b`
	machineID   = `\b[0-9a-f]{32}\b`
)

func identifiers() []identifier {
	return []identifier{
		{compile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, podID, containerID, machineID), "[uuid]"},
		{compile(`(?i)\b[0-9a-f]{2}(:[0-9a-f]{2}){5,}\b`, `(?i)\b[0-9a-f]{2}(-[0-9a-f]{2}){5,}\b`, `(?i)\b[0-9a-f]{4}\.[0-9a-f]{12}\b`), "[mac]"}, // the last is a bridge's id
		{compile(`(?i)\b[0-9a-f]{4}(:[0-9a-f]{4}){3}\b`), "[guid]"},
		{compile(`(?i)\b(?:en|wl|ww)x[0-9a-f]{12}\b`), "enx-mac"},
		{compile(`\b\d{1,3}(\.\d{1,3}){3}\b`), "[ip]"},
		{compile(`(?i)\b[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}\b`, `(?i)\b([0-9a-f]{1,4}:){1,6}:([0-9a-f]{1,4}(:[0-9a-f]{1,4})*)?`), "[ip]"},
	}
}

// Anonymous cuts UUIDs, MAC and IP addresses out of a text. Doing it twice changes nothing.
func Anonymous(s string) string { return cut(s, identifiers()) }

func cut(s string, ids []identifier) string {
	for _, id := range ids {
		s = id.re.ReplaceAllString(s, id.put)
	}
	return s
}

// scrub is Anonymous, and cuts the host's name.
func (c cleaner) scrub(s string) string {
	return cut(c.host.Cut(s), c.addresses)
}

// WithoutIDs gives a function that cuts MAC addresses, GUIDs and UUIDs out of a path or a name: interfaces are named after their MAC
// address, some mount units after a UUID.
func WithoutIDs() func(string) string {
	ids := identifiers()[:4]
	return func(s string) string { return cut(s, ids) }
}

// ForDocument gives a function that cuts out of the texts of a SUT document what names the machine or gives a key away, and what would act
// on a terminal instead of standing there.
func (h Host) ForDocument() func(string) string {
	ids, secrets, disk := WithoutIDs(), withoutSecrets(), disguise.ByID()
	name := h.node(disguise.AsWritten)
	return func(s string) string {
		return secrets(disk.ReplaceAllString(ids(name.Cut(Legible(s))), "${1}${3}[device]"))
	}
}

// maxText bounds a text of a document, in bytes: a kernel's command line has up to 4096, firmware's texts some dozens.
const maxText = 4096

// Legible is a text that nothing in it acts on a terminal, cut to what a document has room for.
func Legible(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return strings.Map(legible, s)
}

// legible puts a space in the place of a character that is not to be seen.
func legible(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// name cleans a path or the reason of a failed read.
func (c cleaner) name(s string) string {
	if strings.HasPrefix(s, RedfishRoot) {
		s = c.bmc(s)
	}
	return c.secrets(c.ids(c.disks(c.homes(c.plain.Cut(s)))))
}

// mount cleans a mount point as file cleans it in mountinfo.
func (c cleaner) mount(s string) string { return unescaped(c.homes(escaped(c.scrub(s)))) }

func (c cleaner) keys(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[c.name(k)] = c.name(v)
	}
	return out
}

// SafeCmdline cuts values that could hold a secret, name the machine or lead to another. What is passed through ("iommu.passthrough=1") is no password.
func SafeCmdline(line string) string {
	fields := options(strings.TrimSpace(line))
	words := regexp.MustCompile(`(?i)(pass|secret|token|key|psk|pwd|auth|cred|user|login|host|domain|serial|cookie|setenv|iscsi|nvmf|zfcp|znet|luks|bootif|netroot|nameserver|url)`)
	secret := func(text string) bool { return words.MatchString(strings.ReplaceAll(text, "passthrough", "")) }
	partUUID := regexp.MustCompile(`PARTUUID=[0-9a-fA-F-]+`)
	domain := regexp.MustCompile(`[A-Za-z]\.[A-Za-z]`)
	ids, cutNext := identifiers(), false
	for i, f := range fields {
		name, value, has := strings.Cut(f, "=")
		switch {
		case cutNext && !strings.HasPrefix(f, "-") && !has:
			fields[i], cutNext = "[cut]", false
		case strings.ContainsRune(name, '"') && secret(f):
			fields[i], cutNext = "[cut]", false
		case has && (secret(name) || strings.ContainsRune(value, ' ') && secret(value) || leadsAway(domain, name, value)):
			fields[i], cutNext = name+"=[cut]", false
		default:
			fields[i] = cut(partUUID.ReplaceAllString(f, "PARTUUID=[uuid]"), ids)
			cutNext = secret(name) && strings.HasPrefix(f, "-")
		}
	}
	return strings.Join(fields, " ")
}

// options parts a command line at its spaces, but for those between quotes, as the kernel does.
func options(line string) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		quoted = quoted != (r == '"')
		return !quoted && unicode.IsSpace(r)
	})
}

// leadsAway tells a value of the command line that is an address, a server's path or a domain, or has the form of one.
func leadsAway(domain *regexp.Regexp, name, value string) bool {
	isFile := name == "BOOT_IMAGE" || name == "initrd" || strings.HasPrefix(value, "/")
	return name == "ip" || name == "nfsroot" || strings.ContainsAny(value, "@;") || strings.Contains(value, ":/") || !isFile && domain.MatchString(value)
}

// file cleans a file of what names the machine or a person: first by what it is known to hold, then as any text.
func (c cleaner) file(name string, b []byte) []byte {
	switch {
	case path.Base(name) == "DMI" && strings.Contains(name, "/dmi/tables/"):
		return smbios.Clean(b)
	case strings.HasSuffix(name, "pci.ids"):
		return b // everyone has it
	}
	return []byte(c.any(c.homes(string(c.known(name, b)))))
}

// known cleans a file by what it is known to hold.
func (c cleaner) known(name string, b []byte) []byte {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(name, "/run/udev/"):
		return keepLines(b, func(l string) bool {
			return strings.HasPrefix(l, "E:MEMORY_") && !strings.Contains(l, "SERIAL") && !strings.Contains(l, "ASSET")
		})
	case slices.Contains([]string{"unique_id", "boot_id", "xgmi_hive_id", "xgmi_device_id"}, base):
		return c.hashed(b)
	case slices.Contains(numberFiles(), base) && len(bytes.TrimSpace(b)) > 0:
		return []byte("cut\n") // short enough to be found by trying, were it hashed
	case base == "address" && bytes.Contains(b, []byte("traddr=")):
		return []byte("cut\n") // of a drive on another machine
	case base == "properties" && strings.Contains(name, "/kfd/"):
		return c.properties(b)
	case name == "/proc/cmdline":
		return []byte(c.scrub(SafeCmdline(string(b))) + "\n")
	case base == "mountinfo":
		return []byte(c.scrub(c.mounts(string(b))))
	case strings.HasSuffix(name, "/dm/name"):
		return []byte(c.host.Cut(string(b)))
	case strings.HasSuffix(name, "/dm/uuid"):
		prefix, _, _ := bytes.Cut(b, []byte("-"))
		return append(prefix, '-')
	case strings.HasPrefix(name, RedfishRoot):
		return []byte(c.bmc(string(cleanRedfish(b))))
	case base == "config" && strings.Contains(name, "/pci"):
		return onlyACS(b)
	case base == "kmsg":
		return []byte(c.kernelLog(string(b)))
	case strings.HasSuffix(path.Dir(name), "/net") && strings.HasPrefix(base, "tcp"):
		return listeners(b)
	case strings.HasPrefix(name, "/proc/") && base == "environ":
		return nil
	case strings.HasPrefix(name, "/proc/") && path.Dir(name) != "/proc" && base == "cmdline":
		return []byte(ProgramName(strings.ReplaceAll(string(b), "\x00", " ")))
	}
	return b
}

// numberFiles are the files that hold nothing but a number by which one device or board is known, a key, or a text of its owner's.
func numberFiles() []string {
	return []string{
		"serial_number", "serial", "wwid", "wwn", "eui", "nguid", "product_serial", "board_serial", "chassis_serial", "product_uuid",
		"board_asset_tag", "chassis_asset_tag", "subsysnqn", "phys_switch_id", "machine-id",
		"hostnqn", "hostid", "dhchap_secret", "dhchap_ctrl_secret", "tls_key", "tls_configured_key", "ifalias", "phys_port_id", "fru_id", "node_desc",
	}
}

// listeners keeps of a table of sockets those that listen, without the addresses on which they do.
func listeners(b []byte) []byte {
	address := regexp.MustCompile(`\b[0-9A-F]{8,32}:([0-9A-F]{4})\b`)
	return keepLines(address.ReplaceAll(b, []byte("00000000:$1")), func(l string) bool {
		f := strings.Fields(l)
		return len(f) > 3 && f[3] == "0A"
	})
}

// mounts takes servers and options out of mountinfo; what is mounted from elsewhere stays distinct by a hash.
func (c cleaner) mounts(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		fields := strings.Fields(right)
		if !ok || len(fields) < 2 {
			continue
		}
		options := "rw"
		if len(fields) > 2 {
			options = cmp.Or(SafeMountOptions(fields[2]), "rw")
		}
		out.WriteString(left + " - " + fields[0] + " " + c.mountSource(fields[0], fields[1]) + " " + options + "\n")
	}
	return out.String()
}

// mountSource hashes what is mounted from elsewhere, by its form or by its kind of file system. A data set of ZFS is of this machine.
func (c cleaner) mountSource(fstype, source string) string {
	elsewhere := strings.HasPrefix(fstype, "fuse.") || slices.Contains([]string{"9p", "beegfs", "ceph", "cifs", "gpfs", "lustre", "nfs", "nfs4", "smb3", "virtiofs", "wekafs"}, fstype)
	if fstype == "zfs" || strings.HasPrefix(source, "/dev/") || !elsewhere && !strings.ContainsAny(source, ":/@") {
		return source
	}
	return c.mark(source)
}

// any cleans a text of any kind. IP addresses stay, since version numbers such as 1.2.3.4 look like them; where texts hold addresses,
// scrub cuts them.
func (c cleaner) any(s string) string {
	return c.secrets(c.disks(cut(c.plain.Cut(s), c.numbers)))
}

func (c cleaner) hashed(b []byte) []byte {
	serial := strings.TrimSpace(string(b))
	if serial == "" || strings.Trim(serial, "0") == "" {
		return b
	}
	return []byte(c.mark(serial) + "\n")
}

func (c cleaner) properties(b []byte) []byte {
	lines := strings.SplitAfter(string(b), "\n")
	for i, l := range lines {
		key, value, _ := strings.Cut(strings.TrimSpace(l), " ")
		if (key == "unique_id" || key == "hive_id") && value != "0" && !strings.HasPrefix(value, hashMark) {
			if key == "unique_id" {
				value = HexID(value)
			}
			lines[i] = key + " " + c.mark(value) + "\n"
		}
	}
	return []byte(strings.Join(lines, ""))
}

func keepLines(b []byte, keep func(string) bool) []byte {
	var out []string
	for l := range strings.Lines(string(b)) {
		if keep(l) {
			out = append(out, l)
		}
	}
	return []byte(strings.Join(out, ""))
}
