package host

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// configuration has a serial number's capability first, then the one asked for.
func configuration(acs int, control uint16) []byte {
	b := make([]byte, 4096)
	binary.LittleEndian.PutUint32(b[0x100:], 3|1<<16|uint32(acs)<<20)
	copy(b[0x104:], "SERIALNO")
	if acs > 0 {
		binary.LittleEndian.PutUint32(b[acs:], acsCapability|1<<16)
		binary.LittleEndian.PutUint16(b[acs+acsControl:], control)
	}
	return b
}

func TestACSControl(t *testing.T) {
	for name, tt := range map[string]struct {
		config  []byte
		control uint16
		found   bool
	}{
		"on":              {configuration(0x148, 0x1d), 0x1d, true},
		"off":             {configuration(0x148, 0), 0, true},
		"none":            {configuration(0, 0), 0, false},
		"of a user":       {configuration(0x148, 0x1d)[:64], 0, false},
		"cut off":         {configuration(0x148, 0x1d)[:0x14c], 0, false},
		"leads to itself": {configuration(0x100, 0)[:0x110], 0, true},
		"empty":           {nil, 0, false},
	} {
		control, found := ACSControl(tt.config)
		if control != tt.control || found != tt.found {
			t.Errorf("%s: %#x %v", name, control, found)
		}
		clean := onlyACS(tt.config)
		if again, still := ACSControl(clean); again != control || still != found || bytes.Contains(clean, []byte("SERIAL")) || len(clean) != len(tt.config) {
			t.Errorf("%s: after cleaning %#x %v", name, again, still)
		}
	}
}

// TestCapturedConfiguration: a capture's copy of a device's configuration lost the serial number, and an environment all.
func TestCapturedConfiguration(t *testing.T) {
	kept := anyCleaner().file("/sys/devices/pci0000:00/0000:00:01.0/config", configuration(0x148, 0x1d))
	if control, found := ACSControl(kept); control != 0x1d || !found || bytes.Contains(kept, []byte("SERIAL")) {
		t.Errorf("%#x %v, or the number is there", control, found)
	}
	if got := anyCleaner().file("/proc/7/environ", []byte("LANG=C\x00WHO=s3cret\x00")); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func FuzzACSControl(f *testing.F) {
	f.Add(configuration(0x148, 0x1d))
	f.Add(configuration(0, 0)[:64])
	f.Fuzz(func(t *testing.T, config []byte) {
		control, found := ACSControl(config)
		clean := onlyACS(config)
		if again, still := ACSControl(clean); again != control || still != found {
			t.Errorf("%#x %v, cleaned %#x %v", control, found, again, still)
		}
	})
}
