package power

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"assay/probes/sut"
)

// designPower is the thermal design power of one processor: what its maker publishes for the model, else what the kernel reads from the
// processor, which is the highest limit that firmware allows and mostly the same.
func designPower(c sut.CPU) sut.Fact[float64] {
	table := sut.Unknown[float64]("no TDP is known for %q", c.Model.Value)
	if !c.Model.IsKnown() {
		table = sut.Unknown[float64]("%s", c.Model.Reason())
	} else if watts, ok := publishedTDP(c.Model.Value); ok {
		table = sut.Known(watts, "published for "+c.Model.Value)
	}
	switch read := c.TDPW; {
	case !table.IsKnown() && read.IsKnown():
		return read
	case !table.IsKnown():
		return sut.Unknown[float64]("%s; %s", read.Reason(), table.Reason())
	case read.IsKnown() && math.Abs(read.Value-table.Value) >= 1:
		table.Other = fmt.Sprintf("%s says %g; it is a limit that firmware sets", read.Source, read.Value)
		return table
	}
	return table
}

// publishedTDP finds the number of a processor's model in the table.
func publishedTDP(model string) (float64, bool) {
	m := regexp.MustCompile(`(?:Platinum|Gold|Silver|Bronze|Max|Xeon\(R\)(?: CPU)?(?: [0-9])?|EPYC|Threadripper PRO|Threadripper) (\d[0-9A-Z]{2,4}[A-Z]{0,2}\+?)(?:\s|$)`).FindStringSubmatch(model)
	if m == nil {
		return 0, false
	}
	for _, row := range tdps() {
		for name := range strings.FieldsSeq(row.models) {
			if name == m[1] {
				return row.watts, true
			}
		}
	}
	return 0, false
}

// tdps are the models of server processors by their TDP, as their makers publish them.
func tdps() []struct {
	watts  float64
	models string
} {
	return []struct {
		watts  float64
		models string
	}{
		{85, "4110 4114 4116 4208 4210 4214"},
		{100, "4210R 4214R 4216"},
		{105, "5118 5120 4309Y"},
		{120, "4310 7252 7272 7282"},
		{125, "6126 6130 6138 6230 5218 5218R 9015 9115"},
		{135, "4314"},
		{140, "6132 6140 6152 5315Y"},
		{150, "6142 6148 6160 8160 6230R 6226R 6240 6242 6248 6252 5220R 4316 5317 4410Y 5415+ 5416S 4510 4514Y"},
		{155, "7262 7302 7302P 7352 7452 7313 7313P"},
		{165, "6150 8176 8260 8260Y 8276 6240R 6238R 5318Y 6330N 6334 4416+ 6416H 5515+"},
		{180, "7601 7402 7402P 7502 7502P 7F32 7413 72F3"},
		{185, "5320 6326 6336Y 6338N 5418Y 5412U 6418H 6426Y 6428N 4516Y+"},
		{190, "7343"},
		{195, "8352V 6434 6526Y 6534"},
		{200, "6154 6254 7552 7532 7702 7702P 7443 7443P 7513 9124 9224 9254 9135 9255"},
		{205, "8168 8180 8268 8270 8280 8280L 6248R 6258R 6242R 6246R 8352Y 8352S 6330 6338 6346 6354 6438Y+ 6438M 6438N 5420+ 6538N 5520+ 6710E"},
		{210, "9334 9335"},
		{225, "7542 7642 7662 7742 7453 7543 7543P 7643 7713 7713P 8351N 6442Y 6448Y 6538Y+ 6756E"},
		{230, "6342"},
		{235, "6348"},
		{240, "7F52 7F72 7343X 7373X 7473X 73F3 74F3 7663"},
		{250, "8358 8360Y 8450H 6414U 6448H 6548Y+ 6548N 6542Y 6746E 6766E"},
		{265, "8362"},
		{270, "8368 8368Q 8380 8444H 8454H 6430 6444Y 6454S 6530 6544Y 6554S 8581V 6740P 6737P"},
		{280, "7H12 7763 75F3 7573X 7773X 7A53 9354 9354P 9534 9355 9355P 3970X 3990X 5965WX 5975WX 5995WX"},
		{290, "9454 9454P 9634"},
		{300, "8460Y+ 8462Y+ 8470N 8558U 8562Y+ 9455 9455P 9535 9365"},
		{320, "9174F 9184X 9274F 9374F 9384X 9645 9175F 9275F 9375F"},
		{330, "8460H 8468H 8468V 8592V 8558 6780E 6747P 6760P"},
		{340, "9734"},
		{350, "8458P 8468 8470 8470Q 8480+ 8480C 8490H 6458Q 9460 9462 9468 9470 9480 8558P 8568Y+ 8570 8580 8592+ 6558Q 6767P 6776P 6787P 7965WX 7975WX 7985WX 7995WX"},
		{360, "9474F 9554 9554P 9654 9654P 9754 9754S 9555 9555P"},
		{385, "8593Q"},
		{390, "9825 9845"},
		{400, "9684X 9475F 9565 9575F 9655 9655P 9745 6952P"},
		{500, "9755 9965 6960P 6972P 6979P 6980P"},
	}
}
