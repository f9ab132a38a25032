package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"assay/probes/host"
)

// mount is a mounted file system: the device's number ("8:1", "0:50"), the folder of the file system that shows, where, and from what.
type mount struct{ device, root, point, fstype, source, options string }

// readMounts gives what is mounted, in the order of the mounts, and where that was read.
func readMounts(ctx context.Context, h host.Host) (list []mount, source string, err error) {
	const file = "/proc/self/mountinfo"
	text, err := h.Text(file)
	if err == nil {
		return uncovered(parseMountinfo(text)), file, nil
	}
	if h.Live {
		return nil, "", err
	}
	if out, failed := h.Run(ctx, "findmnt", "-J"); failed == nil {
		list, failed = parseFindmnt(out.Stdout)
		return list, "findmnt", failed
	}
	return nil, "", err
}

// parseMountinfo reads /proc/self/mountinfo (proc_pid_mountinfo(5)); lines that do not fit are left out.
func parseMountinfo(text string) []mount {
	var list []mount
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 2 {
			continue
		}
		m := mount{device: l[2], root: unescape(l[3]), point: unescape(l[4]), fstype: r[0], source: unescape(r[1]), options: l[5]}
		if len(r) > 2 {
			m.options += "," + r[2]
		}
		list = append(list, m)
	}
	return list
}

// uncovered leaves out what a later mount at the same place hides.
func uncovered(list []mount) []mount {
	last := map[string]int{}
	for i, m := range list {
		last[m.point] = i
	}
	var out []mount
	for i, m := range list {
		if last[m.point] == i {
			out = append(out, m)
		}
	}
	return out
}

// unescape turns the octal codes of blanks, tabs, line ends, backslashes and hashes back into them.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#").Replace(s)
}

// found is an entry of findmnt's tree.
type found struct {
	Target, Source, FSType, Options string
	MajMin                          string `json:"maj:min"`
	Children                        []found
}

// parseFindmnt reads `findmnt -J`. A source may name the folder that is shown: "/dev/sda1[/folder]".
func parseFindmnt(b []byte) ([]mount, error) {
	var doc struct{ Filesystems []found }
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, errors.New("findmnt's output cannot be read")
	}
	var list []mount
	for rest := doc.Filesystems; len(rest) > 0; rest = rest[1:] {
		f := rest[0]
		source, root, _ := strings.Cut(f.Source, "[")
		list = append(list, mount{cmp.Or(f.MajMin, "0:0"), cmp.Or(strings.TrimSuffix(root, "]"), "/"), f.Target, f.FSType, source, f.Options})
		rest = append(rest[:1:1], append(slices.Clone(f.Children), rest[1:]...)...)
	}
	return uncovered(list), nil
}

func isNetworkFS(fstype string) bool {
	names := []string{"nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "glusterfs", "beegfs", "gpfs", "wekafs", "9p", "virtiofs", "afs", "pvfs2", "daos", "sshfs", "s3fs", "gcsfuse", "juicefs"}
	return slices.Contains(names, strings.TrimPrefix(fstype, "fuse."))
}
