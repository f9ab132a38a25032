package network

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"assay/probes/host"
	"assay/probes/sut"
)

// toolLimit bounds the questions about all interfaces together.
const toolLimit = 1500 * time.Millisecond

// askEthtool asks what a port can do at most and its firmware. An interface that is named after its address is not asked: a capture keeps
// the question. own are the names as the kernel has them.
func askEthtool(ctx context.Context, h host.Host, own []string, list []sut.NIC) {
	var asked []int
	var commands [][]string
	for i := range list {
		n := &list[i]
		switch {
		case n.Driver.NA == "no device of its own":
			n.MaxMbps, n.Firmware = sut.NA[int](n.Driver.NA), sut.NA[string](n.Driver.NA)
		case own[i] != n.Name.Value:
			n.MaxMbps, n.Firmware = sut.Unknown[int]("the interface is named after its address"), sut.Unknown[string]("the interface is named after its address")
		default:
			asked, commands = append(asked, i), append(commands, []string{"ethtool", own[i]}, []string{"ethtool", "-i", own[i]})
		}
	}
	answers := h.RunSeveral(ctx, toolLimit, commands...)
	for j, i := range asked {
		list[i].MaxMbps, list[i].Firmware = fastest(answers[2*j]), firmware(answers[2*j+1])
	}
}

func fastest(a host.Answer) sut.Fact[int] {
	if a.Err != nil {
		return sut.Unknown[int]("%s", a.Err)
	}
	if most := parseModes(string(a.Stdout)); most > 0 {
		return sut.Known(most, "ethtool")
	}
	return sut.Unknown[int]("ethtool lists no link modes")
}

func firmware(a host.Answer) sut.Fact[string] {
	if a.Err != nil {
		return sut.Unknown[string]("%s", a.Err)
	}
	version := host.KeyValues(string(a.Stdout), ":")["firmware-version"]
	if version == "" || version == "N/A" {
		return sut.Unknown[string]("ethtool -i names no firmware")
	}
	return sut.Known(version, "ethtool -i")
}

// parseModes gives the fastest of the supported link modes in Mb/s, 0 when there is none.
func parseModes(text string) int {
	_, modes, _ := strings.Cut(text, "Supported link modes:")
	if at := strings.Index(modes, ":"); at >= 0 {
		modes = modes[:at]
	}
	most := 0
	for _, m := range regexp.MustCompile(`\b(\d{2,7})base`).FindAllStringSubmatch(modes, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// card is what nicctl tells of an AMD AI NIC.
type card struct {
	Product  string `json:"product_name"`
	Firmware string `json:"firmware_version"`
	Address  string `json:"eth_bdf"`
}

// askNicctl asks AMD's tool where its NICs are: the list of PCI ids knows the chip, not the card.
func askNicctl(ctx context.Context, h host.Host, list []sut.NIC) {
	at := map[string]int{}
	for i, n := range list {
		if n.Driver.Value == "ionic" && n.PCI.IsKnown() {
			at[n.PCI.Value] = i
		}
	}
	if len(at) == 0 {
		return
	}
	const question = "nicctl show card -j"
	answer := h.RunSeveral(ctx, toolLimit, strings.Fields(question))[0]
	if answer.Err != nil {
		return
	}
	for _, c := range parseNicctl(answer.Stdout) {
		i, ours := at[c.Address]
		if ours && c.Product != "" {
			list[i].Model = sut.Known("AMD "+c.Product, question)
		}
		if ours && c.Firmware != "" {
			list[i].Firmware = sut.Known(c.Firmware, question)
		}
	}
}

// parseNicctl reads `nicctl show card -j`; what cannot be read names no card.
func parseNicctl(b []byte) []card {
	var doc struct{ NIC []card }
	if i := bytes.IndexByte(b, '{'); i > 0 {
		b = b[i:]
	}
	if json.Unmarshal(b, &doc) != nil {
		return nil
	}
	return doc.NIC
}
