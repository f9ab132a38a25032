package probes

import (
	"slices"
	"strings"
)

// systemFixtures are captures of hosts without their accelerators.
func systemFixtures() []fixture {
	return []fixture{
		{name: "system/smbios/Dell-PowerEdge-R630-Dual-Xeon", apart: "TestRealSMBIOS of probes/machine"},
		{name: "system/storage-gpud/lsblk.withlv.censored.json", commands: map[string]string{"lsblk -OJ": "."}},
		{name: "system/storage-gpud/lsblk.xfs_vfat.json", commands: map[string]string{"lsblk -J -O": "."}},
		{name: "system/ib-h100-x12hca", tree: map[string]string{"sys": "sys"}},
	}
}

// systemValues are found in SUTs of hosts.
func systemValues() map[string]func(SUT) any {
	return map[string]func(SUT) any{
		"root":            func(s SUT) any { return stackOf(s, "/") },
		"/mnt/local_disk": func(s SUT) any { return stackOf(s, "/mnt/local_disk") },
		"lv_bytes":        logicalVolume,
		"ib_active":       func(s SUT) any { return float64(len(activePorts(s))) },
		"rate_gbps":       func(s SUT) any { return activePorts(s)[0].RateGbps.Value },
		"ethernet_hca":    ethernetAdapter,
	}
}

// stackOf says what a file system lies on, without its drives.
func stackOf(s SUT, mount string) any {
	for _, f := range s.Storage.Filesystems.Items {
		if f.Mount.Value == mount {
			text, _, _ := strings.Cut(f.Summary.Value, " (")
			return strings.Replace(text, "XFS", "xfs", 1)
		}
	}
	return nil
}

func logicalVolume(s SUT) any {
	for _, f := range s.Storage.Filesystems.Items {
		if slices.Contains(f.Stack.Value, "lvm") {
			return value(f.DeviceBytes)
		}
	}
	return nil
}

func activePorts(s SUT) (list []InfiniBand) {
	for _, p := range s.Network.InfiniBand.Items {
		if p.Kind.Value == "InfiniBand" && p.State.Value == "ACTIVE" {
			list = append(list, p)
		}
	}
	return list
}

func ethernetAdapter(s SUT) any {
	for _, p := range s.Network.InfiniBand.Items {
		if p.LinkLayer.Value == "Ethernet" {
			return p.Name.Value
		}
	}
	return nil
}
