package storage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/probes/sut"
)

// summary writes a file system as a published description has it: "XFS on LVM (/mnt/data; 7 × NVMe)". A stack of which nothing is known
// is left out.
func summary(f sut.Filesystem) sut.Fact[string] {
	stack, ok := f.Stack.Get()
	if !ok || len(stack) == 0 {
		return sut.Unknown[string]("neither its type nor what lies below it is known")
	}
	names := map[string]string{
		"xfs": "XFS", "zfs": "ZFS", "nfs": "NFS", "nfs4": "NFS", "btrfs": "Btrfs", "lvm": "LVM", "crypt": "LUKS", "multipath": "multipath", "nvme": "NVMe", "ssd": "SSD", "hdd": "HDD",
	}
	var layers, media []string
	for i, word := range stack {
		name := cmp.Or(names[word], word)
		switch {
		case strings.HasPrefix(word, "raid") && !strings.HasPrefix(word, "raidz"):
			layers = append(layers, "md "+word)
		case i > 0 && isMedium(word):
			media = append(media, name)
		default:
			layers = append(layers, name)
		}
	}
	text := strings.Join(layers, " on ")
	if len(layers) == 1 && len(media) == 0 {
		return sut.Known(text+" ("+f.Mount.Value+")", f.Stack.Source)
	}
	drives := strings.Join(media, " and ")
	if n, ok := f.Drives.Get(); ok {
		drives = fmt.Sprintf("%d × %s", n, cmp.Or(drives, "drive"))
	}
	return sut.Known(fmt.Sprintf("%s (%s; %s)", text, f.Mount.Value, cmp.Or(drives, "drives unknown")), f.Stack.Source)
}

// isMedium tells the last word of a stack, the drives, from the layers above them.
func isMedium(word string) bool {
	layers := []string{"lvm", "crypt", "multipath", "dmraid", "vdo", "device-mapper", "md", "loop", "bcache", "drbd", "rbd", "nbd", "zram", "zvol", "linear", "mirror"}
	return !slices.Contains(layers, word) && !strings.HasPrefix(word, "raid") && !strings.HasPrefix(word, "draid")
}
