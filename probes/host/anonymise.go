package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	"assay/probes/smbios"
)

// hashMark stands before a serial number that a capture holds as its hash.
const hashMark = "hash:"

// SerialHash names a device over time without giving its serial number away. Only numbers with 64 or more bits that cannot be
// guessed are hashed (UUIDs, unique ids), because a 13-digit serial number could be found by trying.
func SerialHash(serial string) string {
	if rest, ok := strings.CutPrefix(serial, hashMark); ok {
		return rest
	}
	sum := sha256.Sum256([]byte("assay serial number\n" + strings.ToLower(serial)))
	return hex.EncodeToString(sum[:8])
}

// cleaner takes out of a capture what names the machine, its place or its owner.
type cleaner struct {
	host  *regexp.Regexp
	homes func(string) string
	ids   func(string) string
}

func (r *recording) cleaner() cleaner {
	if r.uname == nil || len(r.uname.Nodename) < 3 || r.uname.Nodename == "localhost" {
		return cleaner{homes: r.homes(), ids: WithoutIDs()}
	}
	short, _, _ := strings.Cut(r.uname.Nodename, ".")
	doubled := strings.ReplaceAll(short, "-", "--") // as device mapper writes it
	alternatives := []string{regexp.QuoteMeta(r.uname.Nodename), regexp.QuoteMeta(short), regexp.QuoteMeta(doubled)}
	return cleaner{regexp.MustCompile(`(?i)\b(` + strings.Join(alternatives, "|") + `)\b`), r.homes(), WithoutIDs()}
}

func compile(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(strings.Join(patterns, "|"))
}

// identifier is a text that names a machine and what is put in its place.
type identifier struct {
	re  *regexp.Regexp
	put string
}

func identifiers() []identifier {
	return []identifier{
		{compile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "[uuid]"},
		{compile(`(?i)\b[0-9a-f]{2}(:[0-9a-f]{2}){5,}\b`), "[mac]"},
		{compile(`(?i)\benx[0-9a-f]{12}\b`), "enx-mac"},
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
	if c.host != nil {
		s = c.host.ReplaceAllString(s, "[host]")
	}
	return Anonymous(s)
}

// WithoutIDs gives a function that cuts MAC addresses and UUIDs out of a path or a name: interfaces are named after their MAC address,
// some mount units after a UUID.
func WithoutIDs() func(string) string {
	ids := identifiers()[:3]
	return func(s string) string { return cut(s, ids) }
}

// name cleans a path or the reason of a failed read.
func (c cleaner) name(s string) string { return c.ids(c.homes(s)) }

// mount cleans a mount point as file cleans it in mountinfo.
func (c cleaner) mount(s string) string { return unescaped(c.homes(escaped(c.scrub(s)))) }

func (c cleaner) keys(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[c.name(k)] = c.name(v)
	}
	return out
}

// SafeCmdline cuts values that could hold a secret or name the machine.
func SafeCmdline(line string) string {
	fields := strings.Fields(line)
	secret := regexp.MustCompile(`(?i)(pass|secret|token|key|auth|cred|user|login|hostname|domain|serial|cookie)`)
	partUUID := regexp.MustCompile(`PARTUUID=[0-9a-fA-F-]+`)
	ids, cutNext := identifiers(), false
	for i, f := range fields {
		name, _, has := strings.Cut(f, "=")
		switch {
		case cutNext && !strings.HasPrefix(f, "-") && !has:
			fields[i], cutNext = "[cut]", false
		case has && (secret.MatchString(name) || name == "ip" || name == "nfsroot"):
			fields[i], cutNext = name+"=[cut]", false
		default:
			fields[i] = cut(partUUID.ReplaceAllString(f, "PARTUUID=[uuid]"), ids)
			cutNext = secret.MatchString(name) && strings.HasPrefix(f, "-")
		}
	}
	return strings.Join(fields, " ")
}

// file cleans a file of what names the machine or a person.
func (c cleaner) file(name string, b []byte) []byte { return []byte(c.homes(string(c.known(name, b)))) }

// known cleans a file by what it is known to hold.
func (c cleaner) known(name string, b []byte) []byte {
	base := path.Base(name)
	switch {
	case base == "DMI" && strings.Contains(name, "/dmi/tables/"):
		return smbios.Clean(b)
	case strings.HasPrefix(name, "/run/udev/"):
		return keepLines(b, func(l string) bool {
			return strings.HasPrefix(l, "E:MEMORY_") && !strings.Contains(l, "SERIAL") && !strings.Contains(l, "ASSET")
		})
	case base == "unique_id" || base == "serial_number":
		return hashed(b)
	case base == "properties" && strings.Contains(name, "/kfd/"):
		return hashProperties(b)
	case name == "/proc/cmdline":
		return []byte(c.scrub(SafeCmdline(string(b))) + "\n")
	case base == "mountinfo":
		return []byte(c.scrub(cleanMounts(string(b))))
	case strings.HasSuffix(name, "/dm/uuid"):
		prefix, _, _ := bytes.Cut(b, []byte("-"))
		return append(prefix, '-')
	case strings.HasPrefix(name, "/proc/") && base == "comm", strings.HasSuffix(name, "pci.ids"):
		return b
	}
	return []byte(anonymousFile(string(b)))
}

// cleanMounts takes servers and options out of mountinfo; what is mounted from elsewhere stays distinct by a hash.
func cleanMounts(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		fields := strings.Fields(right)
		if !ok || len(fields) < 2 {
			continue
		}
		source := fields[1]
		if !strings.HasPrefix(source, "/dev/") && strings.ContainsAny(source, ":/@") {
			source = hashMark + SerialHash(source)
		}
		out.WriteString(left + " - " + fields[0] + " " + source + " rw\n")
	}
	return out.String()
}

// anonymousFile cuts UUIDs and MACs only: version numbers such as 1.2.3.4 look like addresses.
func anonymousFile(s string) string { return cut(s, identifiers()[:2]) }

func hashed(b []byte) []byte {
	serial := strings.TrimSpace(string(b))
	if serial == "" || strings.Trim(serial, "0") == "" {
		return b
	}
	return []byte(hashMark + SerialHash(serial) + "\n")
}

func hashProperties(b []byte) []byte {
	lines := strings.SplitAfter(string(b), "\n")
	for i, l := range lines {
		key, value, _ := strings.Cut(strings.TrimSpace(l), " ")
		if (key == "unique_id" || key == "hive_id") && value != "0" && !strings.HasPrefix(value, hashMark) {
			if key == "unique_id" {
				value = HexID(value)
			}
			lines[i] = key + " " + hashMark + SerialHash(value) + "\n"
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

// output cleans what nvidia-smi and others print: UUIDs of GPUs stay recognisable as hashes, serial numbers are cut.
func (c cleaner) output(b []byte) []byte {
	device := regexp.MustCompile(`(GPU|MIG)-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	b = device.ReplaceAllFunc(b, func(id []byte) []byte {
		if strings.Trim(string(id[4:]), "0-") == "" {
			return id // blanked before
		}
		return []byte(hashMark + SerialHash(string(id)))
	})
	b = regexp.MustCompile(`\b\d{13}\b`).ReplaceAll(b, []byte("cut"))
	tags := regexp.MustCompile(`<(serial|gpu_pdi|chassis_serial_number|host_id|gpu_fabric_guid|gpu_guid|cluster_uuid|process_name)>[^<]*<`)
	b = tags.ReplaceAllFunc(b, cleanTag)
	lines := regexp.MustCompile(`(?m)^(\s*(?:Serial Number|GPU PDI|Chassis Serial Number|GPU Fabric GUID|ClusterUUID|Host ID)\s*:).*$`)
	b = lines.ReplaceAll(b, []byte("$1 cut"))
	program := regexp.MustCompile(`(?m)^([ \t]+Name[ \t]+: )(\S.*)$`)
	b = program.ReplaceAllFunc(b, func(line []byte) []byte {
		label, command, _ := strings.Cut(string(line), ": ")
		return []byte(label + ": " + ProgramName(command))
	})
	return []byte(c.homes(anonymousFile(string(b))))
}

// ProgramName is the program of a command line, without its path and its arguments: those may hold a user's name or a key.
func ProgramName(command string) string {
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return path.Base(program)
}

// cleanTag cuts an element's text; of a command line the program's name stays, as in the SUT.
func cleanTag(b []byte) []byte {
	tag, text, _ := strings.Cut(strings.TrimSuffix(string(b), "<"), ">")
	if tag == "<process_name" {
		return []byte(tag + ">" + ProgramName(text) + "<")
	}
	return []byte(tag + ">cut<")
}
