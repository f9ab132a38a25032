package storage

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"assay/probes/host"
)

// btrfsMembers gives the block devices of the btrfs that holds one of them.
func btrfsMembers(h host.Host, member string) []string {
	for _, fs := range h.Match("/sys/fs/btrfs", "*-*") {
		var names []string
		for _, dev := range h.Match(fs+"/devices", "*") {
			names = append(names, path.Base(dev))
		}
		if slices.Contains(names, member) {
			return names
		}
	}
	return []string{member}
}

// pool is how a ZFS pool is made: kinds of its groups ("raidz2", "mirror") and the devices in them.
type pool struct{ layers, devices []string }

// poolLimit bounds the question to a pool; one that lost its drives does not answer.
const poolLimit = time.Second

// zfsPool asks zpool for a pool's make, with the kernel's names of its devices: those by which it knows them hold serial numbers.
func zfsPool(ctx context.Context, h host.Host, name string) (pool, error) {
	answer := h.RunSeveral(ctx, poolLimit, []string{"zpool", "status", "-P", "-L", name})[0]
	if answer.Err != nil {
		return pool{}, answer.Err
	}
	return parseZpool(string(answer.Stdout)), nil
}

// parseZpool reads the "config:" of `zpool status -P -L`. Caches, logs and spares hold no data of the pool.
func parseZpool(text string) pool {
	var p pool
	_, config, _ := strings.Cut(text, "config:")
	config, _, _ = strings.Cut(config, "errors:")
	for line := range strings.Lines(config) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, _, _ = strings.Cut(name, "\t")
		group, number, _ := strings.Cut(name, "-")
		switch {
		case name == "logs", name == "cache", name == "spares":
			return p
		case strings.HasPrefix(name, "/dev/"):
			p.devices = append(p.devices, path.Base(name))
		case number != "" && (group == "mirror" || strings.HasPrefix(group, "raidz") || strings.HasPrefix(group, "draid")) && !slices.Contains(p.layers, group):
			p.layers = append(p.layers, group)
		}
	}
	return p
}
