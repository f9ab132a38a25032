package amd

import (
	"encoding/binary"
	"fmt"
	"math"
)

// attribute is a field of the metrics table by the number that version 1.9 gives it; from attrEdge on are those of other versions alone.
type attribute int

// The fields that are read. Of the others there are socket bandwidths, clocks of media engines and values of single partitions.
const (
	attrHotspot       attribute = 0
	attrMemTemp       attribute = 1
	attrPower         attribute = 3 // of the socket; an average up to 1.3
	attrGfxActivity   attribute = 4
	attrMemActivity   attribute = 5
	attrEnergy        attribute = 7
	attrTicks         attribute = 9 // the firmware's cycles; the sums below grow once in each
	attrProchot       attribute = 10
	attrPPT           attribute = 11
	attrSocketThermal attribute = 12
	attrVRThermal     attribute = 13
	attrHBMThermal    attribute = 14
	attrLinkWidth     attribute = 16
	attrLinkSpeed     attribute = 17
	attrFabricWidth   attribute = 18
	attrFabricSpeed   attribute = 19
	attrGfxSum        attribute = 20 // of gfx activity in percent
	attrMemSum        attribute = 21
	attrLinkRate      attribute = 23 // both directions
	attrRecoveries    attribute = 24
	attrReplays       attribute = 25
	attrRollovers     attribute = 26
	attrNAKsSent      attribute = 27
	attrNAKsReceived  attribute = 28
	attrFabricStatus  attribute = 31
	attrGfxClock      attribute = 33
	attrMemClock      attribute = 37

	attrEdge        attribute = 1024
	attrThrottle    attribute = 1025 // bits that mean the same on every chip
	attrThrottleOwn attribute = 1026
	attrSPL         attribute = 1027
	attrFPPT        attribute = 1028
	attrSPPT        attribute = 1029
	attrCoreThermal attribute = 1030
	attrGfxThermal  attribute = 1031
	attrSoCThermal  attribute = 1032
)

// joule is a step of the energy counter, 15.259 µJ.
const joule = 1.0 / 65536

// parseMetrics reads a table of a version that is known; a size that is not the version's is refused rather than read askew.
func parseMetrics(source string, b []byte) metricsTable {
	t := metricsTable{source: source, fields: map[attribute]reading{}}
	if len(b) < 4 {
		t.why = fmt.Sprintf("%s holds %d bytes", source, len(b))
		return t
	}
	size, format, content := int(binary.LittleEndian.Uint16(b)), b[2], b[3]
	t.version = fmt.Sprintf("%d.%d", format, content)
	if len(b) < size {
		t.why = fmt.Sprintf("%s says %d bytes and holds %d", source, size, len(b))
		return t
	}
	if t.version == "1.9" {
		t.walk(b[:size])
		return t
	}
	layout, known := layoutOf(t.version)
	switch {
	case !known:
		t.why = fmt.Sprintf("%s has version %s, which is not known", source, t.version)
	case size != layout.size:
		t.why = fmt.Sprintf("%s of version %s has %d bytes, not %d", source, t.version, size, layout.size)
	default:
		for _, f := range layout.fields {
			t.take(f.attr, b[f.at:], f.bytes, f.count, f.unit)
		}
	}
	return t
}

// take keeps the values of a field that are not all ones.
func (t metricsTable) take(a attribute, b []byte, bytes, count int, unit float64) {
	r := reading{bits: 8 * bytes, unit: unit}
	for i := range count {
		if v, ok := number(b[i*bytes:], bytes); ok {
			r.values = append(r.values, v)
		}
	}
	if len(r.values) > 0 {
		t.fields[a] = r
	}
}

// number reads a little-endian number; all ones mean that the chip does not report it.
func number(b []byte, bytes int) (uint64, bool) {
	var v uint64
	for i := range bytes {
		v |= uint64(b[i]) << (8 * i)
	}
	return v, v != math.MaxUint64>>(64-8*bytes)
}

// walk reads version 1.9, which describes itself: packed pairs of a description and values. What is cut off leaves the table unread.
func (t *metricsTable) walk(b []byte) {
	if len(b) < 8 {
		t.why = fmt.Sprintf("%s of version 1.9 holds %d bytes", t.source, len(b))
		return
	}
	attributes, rest := binary.LittleEndian.Uint32(b[4:]), b[8:]
	for range attributes {
		if len(rest) < 8 {
			t.cutOff()
			return
		}
		code := binary.LittleEndian.Uint64(rest)
		kind, count := int(code>>20&0xf), int(code&0x3ff)
		bytes := 1 << (kind / 2) // u8, s8, u16, s16 … s64
		if rest = rest[8:]; kind > 7 || len(rest) < bytes*count {
			t.cutOff()
			return
		}
		t.take(attribute(code>>10&0x3ff), rest, bytes, count, unitOf(attribute(code>>10&0x3ff), int(code>>24&0xff)))
		rest = rest[bytes*count:]
	}
}

func (t *metricsTable) cutOff() {
	t.why = t.source + " of version 1.9 ends inside an attribute"
	clear(t.fields)
}

// unitOf is what 1 stands for in a field of version 1.9, by its code of units.
func unitOf(a attribute, code int) float64 {
	switch {
	case a == attrEnergy:
		return joule
	case code == 7: // 0.1 GT/s
		return 0.1
	}
	return 1
}
