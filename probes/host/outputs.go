package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// patterns find in outputs what names a device, its owner or its place.
type patterns struct {
	device, serial, cell, tag, lspci, vpd, commandLine, logSerial, logNumber, foreign, qualified, wwn, process *regexp.Regexp
	label                                                                                                      map[string]*regexp.Regexp // by program: the labels of lines to be cut
	program                                                                                                    *regexp.Regexp
}

func outputPatterns() patterns {
	lines := func(label string) *regexp.Regexp { return regexp.MustCompile(`(?m)^(` + label + `:).*$`) }
	return patterns{
		device: regexp.MustCompile(`(GPU|MIG)-([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{16}\b)`),
		serial: regexp.MustCompile(`(?i)("([a-z_. -]*(?:serial|serial ?number|serial_number|asset_?tag|uuid|wwn|host_?name|node_?name|mac_?address|password|secret|token|api_?key|(?:part)?label|unique id|user|owner|fru_id|ext_id))"\s*:\s*)("(?:[^"\\]|\\.)*"|\d+)`),
		cell:   regexp.MustCompile(`\b\d{13}\b`), // a board's serial number, in a table
		tag:    regexp.MustCompile(`<(serial|gpu_pdi|chassis_serial_number|host_id|gpu_fabric_guid|gpu_guid|cluster_uuid|process_name)>[^<]*<`),
		lspci:  regexp.MustCompile(`(?i)(Device Serial Number )\S+`),
		vpd:    regexp.MustCompile(`(?m)^(\s*\[[A-Z][A-Z0-9]\] [^:\n]*:).*$`), // a field of a device's vital product data
		label: map[string]*regexp.Regexp{
			"nvidia-smi": lines(`\s*(?:Serial Number|GPU PDI|Chassis Serial Number|GPU Fabric GUID|ClusterUUID|Host ID)\s*`),
			"ipmitool":   lines(`[^:\n]*(?:Serial|GUID|Asset Tag)[^:\n]*`),
			"ibstat":     lines(`[^:\n]*GUID`),
		},
		program:     regexp.MustCompile(`(?m)^([ \t]+Name[ \t]+: )(\S.*)$`),
		commandLine: regexp.MustCompile(`(?m)([Cc]ommand line: )(.*)$`),
		foreign:     regexp.MustCompile(`^(?:<\d+>|[0-9,;-]*;|\[[ 0-9.]+\] |[A-Za-z]{3} +\d+ [0-9:]+ \S+ kernel: )*(?:audit|systemd|nfs|NFS|RPC|CIFS|smb|libceph|ceph|rbd|iscsi|usb |hid|input: |Lustre|LNet|beegfs|mmfs|GFS2|dlm|9p|drbd|cloud-init|Bluetooth)`),
		qualified:   regexp.MustCompile(`\b(nqn|iqn)\.[^\s"',]+`),
		wwn:         regexp.MustCompile(`("wwn"\s*:\s*)\{[^{}]*\}`),
		process:     regexp.MustCompile(`("name"\s*:\s*")((?:[^"\\]|\\.)*)"`),
		logSerial:   regexp.MustCompile(`(?i)(\b(?:s/n|sn|serial)(?: ?(?:number|no\.?))?)(\s*[:=]\s*\S+|\s+[a-z]*[0-9][a-z0-9-]{5,})`),
		logNumber:   regexp.MustCompile(`(?i)(\b(?:sas_addr|device[_ ]name|logical id|hive(?:[_ ]id)?|ww(?:p|n)?n|wwid|guid)\W{1,3})(?:0x)?[0-9a-f]{8,16}\b`),
	}
}

// output cleans what a program printed. Unique numbers of GPUs stay recognisable as hashes, serial numbers are cut.
func (c cleaner) output(argv []string, b []byte) []byte {
	s, program := string(b), path.Base(argv[0])
	switch program {
	case "nvidia-smi":
		s = c.nvidia(s)
		if len(queried(argv)) > 0 {
			s = safeColumns(s)
		}
	case "lspci":
		s = c.vpd.ReplaceAllString(c.lspci.ReplaceAllString(s, "${1}cut"), "$1 cut")
	case "dmesg", "journalctl":
		s = c.kernelLog(s)
	case "findmnt":
		s = c.host.Cut(c.mountTree(s))
	case "lsblk", "zpool":
		s = c.host.Cut(s) // volume groups and pools are named after it
	case "smartctl":
		s = c.wwn.ReplaceAllString(s, "$1{}")
	case "amd-smi":
		if slices.Contains(argv, "process") {
			s = c.process.ReplaceAllStringFunc(s, func(found string) string {
				m := c.process.FindStringSubmatch(found)
				return m[1] + ProgramName(m[2]) + `"`
			})
		}
	case "docker", "podman", "nerdctl":
		s = engineText(s)
	}
	if label := c.label[program]; label != nil {
		s = label.ReplaceAllString(s, "$1 cut")
	}
	return []byte(c.homes(c.any(c.serials(c.devices(s)))))
}

// args cleans what a program was asked, as a mount's source is cleaned of which a pool's name was taken.
func (c cleaner) args(argv []string) []string {
	out := slices.Clone(argv)
	for i, arg := range out[1:] {
		out[i+1] = c.host.Cut(arg)
	}
	return out
}

// devices puts a hash in the place of a GPU's UUID.
func (c cleaner) devices(s string) string {
	return c.device.ReplaceAllStringFunc(s, func(id string) string {
		if strings.Trim(id[4:], "0-") == "" {
			return id // blanked before
		}
		return c.mark(id)
	})
}

// serials cuts the values of keys of JSON that name a device, its owner or its place. AMD's serial number of a chip, which is the
// kernel's unique id, stays as its hash.
func (c cleaner) serials(s string) string {
	return c.serial.ReplaceAllStringFunc(s, func(found string) string {
		m := c.serial.FindStringSubmatch(found)
		value := strings.Trim(m[3], `"`)
		switch key := strings.ToLower(m[2]); {
		case value == "" || value == "N/A" || IsHash(value):
			return found
		case key == "asic_serial" || key == "unique id":
			if id, err := UniqueID(value); err == nil {
				return m[1] + `"` + c.mark(id) + `"`
			}
		}
		return m[1] + `"cut"`
	})
}

// UniqueID writes a GPU's unique number as sysfs does, from what a tool prints: "0x0123abcd…".
func UniqueID(s string) (string, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(s), "0x"), 16, 64)
	if err != nil || v == 0 {
		return "", fmt.Errorf("%d digits are no unique number", len(s)) // the number itself is not to be seen
	}
	return fmt.Sprintf("%016x", v), nil
}

// safeColumns cuts the columns of a query that name a device, its place or its owner. A row that does not fit the header goes.
func safeColumns(table string) string {
	var out strings.Builder
	var header []string
	named := []string{
		"serial", "gpu_serial", "pdi", "hostname", "platform.chassis_serial_number", "platform.host_id", "platform.gpu_fabric_guid", "fabric.clusteruuid", "fabric.cluster_uuid",
	}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), ",")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case header == nil:
			header = cells
		case len(cells) != len(header):
			continue
		default:
			for i, name := range header {
				if slices.Contains(named, strings.ToLower(name)) && !strings.HasPrefix(strings.Trim(cells[i], "["), "N/A") {
					cells[i] = "cut"
				}
			}
		}
		out.WriteString(strings.Join(cells, ", ") + "\n")
	}
	return out.String()
}

// nvidia cuts serial numbers; of a process's command line the program's name stays.
func (c cleaner) nvidia(s string) string {
	s = c.tag.ReplaceAllStringFunc(c.cell.ReplaceAllString(s, "cut"), cleanTag)
	return c.program.ReplaceAllStringFunc(s, func(line string) string {
		label, command, _ := strings.Cut(line, ": ")
		return label + ": " + ProgramName(command)
	})
}

// engineText keeps of what a container engine says of itself what is harmless, and cuts the commands and environments of images and containers.
func engineText(s string) string {
	var doc any
	if json.Unmarshal([]byte(s), &doc) != nil {
		return s
	}
	if info, ok := doc.(map[string]any); ok && info["DockerRootDir"] != nil {
		maps.DeleteFunc(info, func(key string, _ any) bool { return !slices.Contains(engineKeys(), key) })
		if runtimes, ok := info["Runtimes"].(map[string]any); ok {
			for name := range runtimes {
				runtimes[name] = map[string]any{}
			}
		}
	}
	cutKeys(doc, "Labels", "Env", "Cmd", "Args", "Command", "Entrypoint")
	b, err := json.Marshal(doc)
	if err != nil {
		return ""
	}
	return string(b)
}

// engineKeys are what a capture keeps of an engine's description of itself: it knows its owner's registries, proxies and networks too.
func engineKeys() []string {
	return []string{
		"ServerVersion", "OperatingSystem", "OSType", "Architecture", "KernelVersion", "NCPU", "MemTotal", "Driver", "LoggingDriver", "CgroupDriver", "CgroupVersion",
		"Runtimes", "DefaultRuntime", "SecurityOptions", "CDISpecDirs", "DockerRootDir", "LiveRestoreEnabled", "Debug", "ServerErrors",
	}
}

// mountTree takes servers and options out of what findmnt prints, as mounts does of mountinfo.
func (c cleaner) mountTree(s string) string {
	var doc any
	if json.Unmarshal([]byte(s), &doc) != nil {
		return s
	}
	c.cleanMounts(doc)
	b, err := json.Marshal(doc)
	if err != nil {
		return ""
	}
	return string(b)
}

func (c cleaner) cleanMounts(v any) {
	switch v := v.(type) {
	case map[string]any:
		source, _ := v["source"].(string)
		fstype, _ := v["fstype"].(string)
		if source != "" {
			v["source"] = c.mountSource(fstype, source)
		}
		if options, ok := v["options"].(string); ok {
			v["options"] = SafeMountOptions(options)
		}
		for _, below := range v {
			c.cleanMounts(below)
		}
	case []any:
		for _, below := range v {
			c.cleanMounts(below)
		}
	}
}

// cutKeys takes keys out of a document, at every depth.
func cutKeys(v any, keys ...string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range keys {
			delete(v, k)
		}
		for _, below := range v {
			cutKeys(below, keys...)
		}
	case []any:
		for _, below := range v {
			cutKeys(below, keys...)
		}
	}
}

// kernelLog cuts addresses and serial numbers out of the kernel's log, and the secrets of the command line that stands in it. Lines about
// people, mounts from elsewhere and services go: they name them in free words.
func (c cleaner) kernelLog(s string) string {
	s = c.commandLine.ReplaceAllStringFunc(s, func(line string) string {
		label, command, _ := strings.Cut(line, ": ")
		return label + ": " + SafeCmdline(command)
	})
	s = string(keepLines([]byte(s), func(line string) bool { return !c.foreign.MatchString(line) }))
	s = c.logNumber.ReplaceAllString(c.logSerial.ReplaceAllString(s, "${1}: cut"), "${1}cut")
	s = c.qualified.ReplaceAllString(s, "$1.[cut]")
	return c.scrub(s)
}

// ProgramName is the program of a command line, without its path and its arguments: those may hold a user's name or a key.
func ProgramName(command string) string {
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return path.Base(program)
}

// cleanTag cuts an element's text; of a command line the program's name stays, as in the SUT.
func cleanTag(found string) string {
	tag, text, _ := strings.Cut(strings.TrimSuffix(found, "<"), ">")
	if tag == "<process_name" {
		return tag + ">" + ProgramName(text) + "<"
	}
	return tag + ">cut<"
}
