package machine

import (
	"fmt"
	"regexp"

	"assay/report/figure"
)

// product is an accelerator and the memory its maker sells it with, in the maker's GB; several where it is sold with several.
type product struct {
	name *regexp.Regexp
	gb   []int
}

// products are found by the first name that fits. The figures are the makers' data sheets', none of them rounded from what a driver tells.
func products() []product {
	list := []product{}
	for _, p := range []struct {
		name string
		gb   []int
	}{
		{`MI35[05]X`, []int{288}}, {`MI325X`, []int{256}}, {`MI30[08]X`, []int{192}}, {`MI300A`, []int{128}}, {`MI250`, []int{128}}, {`MI210`, []int{64}}, {`MI100`, []int{32}},
		{`GB300|B300`, []int{288}}, {`GB200`, []int{192, 186}}, {`B200`, []int{192, 180}}, {`GH200`, []int{144, 96}}, {`H200`, []int{141}}, {`H100`, []int{96, 94, 80}}, {`H800`, []int{80}}, {`H20\b`, []int{141, 96}},
		{`A100|A800`, []int{80, 40}}, {`L40S|L40\b`, []int{48}}, {`L4\b`, []int{24}}, {`A40\b`, []int{48}}, {`A30\b`, []int{24}}, {`A10G?\b`, []int{24}}, {`T4\b`, []int{16}}, {`V100`, []int{32, 16}},
		{`RTX PRO 6000`, []int{96}}, {`RTX (A6000|6000 Ada)`, []int{48}}, {`RTX 5090`, []int{32}}, {`RTX [34]090`, []int{24}}, {`RX 9070 XT|RX 9070\b|RX 6900 XT`, []int{16}}, {`RX 7900 XTX`, []int{24}},
	} {
		list = append(list, product{regexp.MustCompile(`\b(` + p.name + `)`), p.gb})
	}
	return list
}

// NominalGB is the memory that the maker sells a product with, of the sizes it is sold with the one that holds what the driver tells.
func NominalGB(name string, bytes int64) (int, bool) {
	for _, p := range products() {
		if !p.name.MatchString(name) {
			continue
		}
		for _, gb := range p.gb {
			if share := float64(bytes) / float64(int64(gb)<<30); share > 0.88 && share < 1.04 {
				return gb, true
			}
		}
		return 0, false
	}
	return 0, false
}

// Nominal writes the memory of a product: "192 GB (191.98 GiB told)"; what the driver tells alone where the product is not known.
func Nominal(name string, bytes int64) string {
	if gb, known := NominalGB(name, bytes); known {
		return fmt.Sprintf("%d GB (%s told)", gb, figure.Size(bytes))
	}
	return figure.Size(bytes)
}
