package machine

import (
	"fmt"
	"strconv"
	"strings"

	"assay/probes/sut"
)

const udevDMI = "/run/udev/data/+dmi:id"

// udevRecord is the record that systemd 248 and later make of SMBIOS; every user may read it.
type udevRecord map[string]string

func parseUdev(text string) udevRecord {
	env := udevRecord{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "E:"), "="); ok {
			env[k] = v
		}
	}
	return env
}

// memorySlots gives one DIMM per populated slot and the number of all slots.
func (r udevRecord) memorySlots() (dimms []sut.DIMM, slots int) {
	slots, _ = strconv.Atoi(r["MEMORY_ARRAY_NUM_DEVICES"])
	for i := range min(slots, 1024) {
		if d, ok := r.dimm(i); ok {
			dimms = append(dimms, d)
		}
	}
	return dimms, slots
}

// dimm reads one slot; false when it is empty.
func (r udevRecord) dimm(slot int) (sut.DIMM, bool) {
	key := func(name string) sut.Fact[string] { return r.text(fmt.Sprintf("MEMORY_DEVICE_%d_%s", slot, name)) }
	size := sut.Convert(key("SIZE"), func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	if key("PRESENT").Value == "0" || !size.IsKnown() || size.Value <= 0 {
		return sut.DIMM{}, false
	}
	return sut.DIMM{
		SizeBytes: size, Type: key("TYPE"), Module: moduleOf(key("FORM_FACTOR").Value, key("TYPE_DETAIL").Value, udevDMI),
		SpeedMTS: sut.Convert(key("SPEED_MTS"), strconv.Atoi), ConfiguredMTS: sut.Convert(key("CONFIGURED_SPEED_MTS"), strconv.Atoi),
		Ranks: sut.Convert(key("RANK"), strconv.Atoi), Manufacturer: key("MANUFACTURER"), PartNumber: key("PART_NUMBER"), Slot: key("LOCATOR"),
	}, true
}

// text gives a value. systemd writes "<OUT OF SPEC>" for codes that are newer than itself, such as DDR5's.
func (r udevRecord) text(name string) sut.Fact[string] {
	v := r[name]
	if strings.HasPrefix(v, "<") {
		return sut.Unknown[string]("%s has %s for %s", udevDMI, v, name)
	}
	if v, err := boardText(v); err == nil {
		return sut.Known(v, udevDMI)
	}
	return sut.Unknown[string]("%s has no %s", udevDMI, name)
}
