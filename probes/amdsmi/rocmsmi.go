package amdsmi

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// rocm is what rocm-smi said: an object for each card, and one for the system. All its values are texts.
type rocm struct {
	cards  []answer
	system answer
}

// readROCmSMI asks the older tool. It exits with 0 when it fails.
func readROCmSMI(ctx context.Context, h host.Host) (rocm, error) {
	c := ask(ctx, h, "rocm-smi", "-a", "--json")
	if c.err != nil {
		return rocm{}, errors.New("rocm-smi " + c.err.Error())
	}
	var t rocm
	for _, doc := range entries(c.docs) {
		for i := 0; ; i++ {
			card, ok := doc.at("card" + strconv.Itoa(i)).(map[string]any)
			if !ok {
				break
			}
			t.cards = append(t.cards, answer{node: node{card}, command: c.name})
		}
		if system, ok := doc.at("system").(map[string]any); ok {
			t.system = answer{node: node{system}, command: c.name}
		}
	}
	if len(t.cards) == 0 {
		return rocm{}, errors.New("rocm-smi lists no card")
	}
	return t, nil
}

func (t rocm) fill(s *sut.SUT, h host.Host) {
	s.Software.AMDGPU = sut.Convert(t.system.text("Driver version"), driverVersion)
	s.Software.ROCm = sut.Unknown[string]("rocm-smi does not give it")
	for _, card := range t.cards {
		a := readCard(card, h)
		a.DriverVersion = s.Software.AMDGPU
		s.Accelerators.Items = append(s.Accelerators.Items, a)
	}
}

// readCard makes an accelerator of a card. In partition modes each has the memory of the whole GPU.
func readCard(c answer, h host.Host) sut.Accelerator {
	a := sut.Accelerator{
		Vendor: sut.Known("AMD", c.command), Name: sut.Convert(c.text("Card series", "Device Name"), cardName), Arch: c.text("GFX Version"),
		PCI: sut.PCI{
			Address:  sut.Unknown[string]("%s gives no PCI Bus", c.command),
			DeviceID: sut.Convert(c.text("Device ID", "GPU ID"), hexID), SubsystemID: sut.Convert(c.text("Subsystem ID", "Card model"), hexID),
		},
		VRAMBytes: sut.Convert(sut.Convert(c.number("bytes", "VRAM Total Memory (B)"), positive), whole[int64]),
		// the key says Max, the value is the cap in force
		PowerCapW: sut.Convert(c.number("W", "Max Graphics Package Power (W)"), positive), VBIOS: c.text("VBIOS version"),
		SerialHash: serialHash(h, c.text("Unique ID")), NUMANode: sut.Convert(c.text("(Topology) Numa Node"), natural),
		MemoryVendor: c.text("GPU memory vendor"), IFWI: sut.Unknown[string]("rocm-smi does not give it"),
		LinkErrors:    sut.LinkErrors{Replays: sut.Convert(c.number("", "PCIe Replay Count"), whole[int64])},
		PerfLevel:     c.text("Performance Level"),
		VRAMUsedBytes: sut.Convert(c.number("bytes", "VRAM Total Used Memory (B)"), whole[int64]),
		Partition:     sut.Partition{Compute: c.text("Compute Partition"), Memory: c.text("Memory Partition")},
	}
	if address := addressOf(c.text("PCI Bus")); address != "" {
		a.PCI.Address = sut.Known(address, c.command+": PCI Bus")
	}
	sut.GiveReason(reflect.ValueOf(&a).Elem(), "rocm-smi does not tell, and the kernel does not list this GPU")
	return a
}

// cardName prefers the product's name in brackets to the chip's: "Arcturus GL-XL [Instinct MI100]".
func cardName(s string) (string, error) {
	if _, product, ok := strings.Cut(s, "["); ok {
		s = "AMD " + strings.TrimSuffix(product, "]")
	}
	return s, nil
}
