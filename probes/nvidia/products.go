package nvidia

import (
	"strings"

	"assay/probes/sut"
)

// product is what nvidia-smi does not tell of a device, and its maker's data sheet does.
type product struct {
	memory          string
	multiprocessors int
}

// products are those that serve models, by the name that the driver gives them.
func products() map[string]product {
	return map[string]product{
		"Tesla V100-SXM2-32GB": {"HBM2", 80}, "Tesla V100-PCIE-32GB": {"HBM2", 80}, "Tesla V100-SXM2-16GB": {"HBM2", 80}, "Tesla V100-PCIE-16GB": {"HBM2", 80},
		"Tesla T4": {"GDDR6", 40}, "NVIDIA A10": {"GDDR6", 72}, "NVIDIA L4": {"GDDR6", 58}, "NVIDIA L40": {"GDDR6", 142}, "NVIDIA L40S": {"GDDR6", 142},
		"NVIDIA A100-SXM4-40GB": {"HBM2", 108}, "NVIDIA A100-PCIE-40GB": {"HBM2", 108}, "NVIDIA A100-SXM4-80GB": {"HBM2e", 108}, "NVIDIA A100 80GB PCIe": {"HBM2e", 108},
		"NVIDIA H100 80GB HBM3": {"HBM3", 132}, "NVIDIA H100 PCIe": {"HBM2e", 114}, "NVIDIA H100 NVL": {"HBM3", 132}, "NVIDIA H200": {"HBM3e", 132}, "NVIDIA H200 NVL": {"HBM3e", 132},
		"NVIDIA GeForce RTX 3090": {"GDDR6X", 82}, "NVIDIA GeForce RTX 4090": {"GDDR6X", 128}, "NVIDIA GeForce RTX 5090": {"GDDR7", 170},
		"NVIDIA RTX 6000 Ada Generation": {"GDDR6", 142}, "NVIDIA RTX 4000 SFF Ada Generation": {"GDDR6", 48},
		"NVIDIA RTX PRO 6000 Blackwell Workstation Edition": {"GDDR7", 188}, "NVIDIA RTX PRO 6000 Blackwell Server Edition": {"GDDR7", 188},
		"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": {"GDDR7", 188},
		"NVIDIA B200": {"HBM3e", 148}, "NVIDIA GH200 480GB": {"HBM3", 132}, "GH200 480GB": {"HBM3", 132}, "NVIDIA GB10": {"LPDDR5X", 48},
	}
}

// models are the names by which the driver calls devices of the bus, by their ids: of those that do not answer.
func models() map[string]string {
	return map[string]string{
		"0x1eb8": "Tesla T4", "0x2236": "NVIDIA A10", "0x27b8": "NVIDIA L4", "0x26b5": "NVIDIA L40", "0x26b9": "NVIDIA L40S",
		"0x20b0": "NVIDIA A100-SXM4-40GB", "0x20f1": "NVIDIA A100-PCIE-40GB", "0x20b2": "NVIDIA A100-SXM4-80GB", "0x20b5": "NVIDIA A100 80GB PCIe",
		"0x2330": "NVIDIA H100 80GB HBM3", "0x2331": "NVIDIA H100 PCIe", "0x2321": "NVIDIA H100 NVL", "0x2335": "NVIDIA H200", "0x233b": "NVIDIA H200 NVL", "0x2901": "NVIDIA B200",
		"0x2204": "NVIDIA GeForce RTX 3090", "0x2684": "NVIDIA GeForce RTX 4090", "0x2b85": "NVIDIA GeForce RTX 5090", "0x26b1": "NVIDIA RTX 6000 Ada Generation",
	}
}

// nameOf is the name of a device that does not tell it, by its id.
func nameOf(id sut.Fact[string]) sut.Fact[string] {
	if name := models()[id.Value]; name != "" {
		return sut.Known(name, "table of products: PCI id 10de:"+strings.TrimPrefix(id.Value, "0x"))
	}
	return sut.Unknown[string]("PCI id %s is not among the products known here", id.Value)
}

// memoryType is the product's; some names hold it.
func memoryType(name sut.Fact[string]) sut.Fact[string] {
	if !name.IsKnown() {
		return sut.Unknown[string]("the name of the product is not known: %s", name.Reason())
	}
	if p, ok := products()[name.Value]; ok {
		return sut.Known(p.memory, "table of products: NVIDIA's data sheet of "+name.Value)
	}
	for field := range strings.FieldsSeq(name.Value) {
		if strings.HasPrefix(field, "HBM") {
			return sut.Known(field, "the product's name")
		}
	}
	return sut.Unknown[string]("nvidia-smi does not give the type of memory, and %q is not among the products known here", name.Value)
}

func multiprocessors(name sut.Fact[string]) sut.Fact[int] {
	if !name.IsKnown() {
		return sut.Unknown[int]("the name of the product is not known: %s", name.Reason())
	}
	if p, ok := products()[name.Value]; ok {
		return sut.Known(p.multiprocessors, "table of products: NVIDIA's data sheet of "+name.Value)
	}
	return sut.Unknown[int]("nvidia-smi does not give the number of multiprocessors, and %q is not among the products known here", name.Value)
}

// systemOnChip is the source of what follows from being one.
const systemOnChip = "table of products: a system on a chip"

// sharesMemory tells products that have no memory of their own: systems on a chip.
func sharesMemory(name string) bool {
	for _, part := range []string{"GB10", "Thor", "Orin", "Xavier"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
