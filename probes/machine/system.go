package machine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"assay/probes/host"
	"assay/probes/sut"
)

// ProbeSystem reads the board, its firmware and whether the machine is one.
func ProbeSystem(_ context.Context, h host.Host, s *sut.SUT) error {
	table := readFirmware(h)
	board := sut.First(dmi(h, "board_name"), table.text(2, 0x05, "product"))
	s.System = sut.System{
		Vendor:  sut.First(dmi(h, "sys_vendor"), dmi(h, "board_vendor"), table.text(1, 0x04, "maker")),
		Product: sut.First(dmi(h, "product_name"), table.text(1, 0x05, "product"), board),
		Version: sut.First(dmi(h, "product_version"), table.text(1, 0x06, "version")),
		Board:   withMaker(board, sut.First(dmi(h, "board_vendor"), table.text(2, 0x04, "maker"))),
		BIOS: sut.BIOS{
			Vendor:  sut.First(dmi(h, "bios_vendor"), table.text(0, 0x04, "maker")),
			Version: sut.First(dmi(h, "bios_version"), table.text(0, 0x05, "version")),
			Date:    sut.Convert(sut.First(dmi(h, "bios_date"), table.text(0, 0x08, "date")), parseBIOSDate),
		},
		Chassis: sut.Convert(host.TextFact(h, dmiDir+"chassis_type"), parseChassis),
	}
	s.System.Hypervisor, s.System.Container = readHypervisor(h), readContainer(h)
	s.System.Virtualization = innermost(s.System.Container, s.System.Hypervisor)
	s.System.Confidential = readConfidential(h, s.System.Hypervisor)
	return nil
}

const dmiDir = "/sys/class/dmi/id/"

// dmi gives a field of the firmware's table that every user may read.
func dmi(h host.Host, field string) sut.Fact[string] {
	return sut.Convert(host.TextFact(h, dmiDir+field), boardText)
}

// boardText refuses what board makers leave in a field they did not fill.
func boardText(s string) (string, error) {
	s = strings.TrimSpace(s)
	switch strings.ToLower(strings.TrimRight(s, ".")) {
	case "", "to be filled by o.e.m", "to be filled by oem", "o.e.m", "oem", "default string", "default", "not specified", "not provided", "not applicable",
		"not available", "none", "empty", "n/a", "na", "unknown", "undefined", "invalid", "system product name", "system manufacturer", "system version",
		"super server", "product name", "base board product name", "base board manufacturer", "type2 - board product name1", "chassis manufacture", "<bad index>",
		"0123456789", "1234567890", "123456789":
		return "", sut.ErrNoValue
	}
	if strings.Trim(s, s[:1]) == "" && !isLetterOrDigit(s[0]) { // "....", "----"
		return "", sut.ErrNoValue
	}
	return s, nil
}

func isLetterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// withMaker puts a board's maker before its name.
func withMaker(board, maker sut.Fact[string]) sut.Fact[string] {
	if board.IsKnown() && maker.IsKnown() && !strings.HasPrefix(board.Value, maker.Value) {
		board.Value = maker.Value + " " + board.Value
	}
	return board
}

// parseBIOSDate turns the firmware's MM/DD/YYYY (or MM/DD/YY) into 2025-07-11.
func parseBIOSDate(s string) (string, error) {
	for _, layout := range []string{"01/02/2006", "01/02/06", "2006-01-02", "2006/01/02", "20060102"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format("2006-01-02"), nil
		}
	}
	return "", fmt.Errorf("date %q", s)
}

// parseChassis names the SMBIOS chassis types that servers use.
func parseChassis(s string) (string, error) {
	names := map[string]string{
		"1": "other", "3": "desktop", "4": "low-profile desktop", "6": "mini tower", "7": "tower", "8": "portable", "9": "laptop", "10": "notebook",
		"13": "all in one", "15": "space-saving", "17": "main server chassis", "22": "RAID chassis", "23": "rack mount", "24": "sealed-case PC",
		"25": "multi-system", "28": "blade", "29": "blade enclosure", "30": "tablet", "34": "embedded PC", "35": "mini PC", "36": "stick PC",
	}
	if name, ok := names[s]; ok {
		return name, nil
	}
	return "", sut.ErrNoValue
}
