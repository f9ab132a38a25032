package nvidia

import (
	"strconv"
	"strings"

	"assay/probes/sut"
)

// number reads "700.00 W", "81559 MiB", "16x", "5"; a count of all ones is none.
func number(s string) (float64, error) {
	digits, _, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(strings.TrimSuffix(digits, "x"), 64)
	if err != nil || !(v >= 0 && v < 4294967295) {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// watts reads a limit; 0 W is none.
func watts(s string) (float64, error) {
	v, err := number(s)
	if err != nil || v == 0 || v > 100_000 {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// count reads a counter of 64 bits: "4251825415 us", "120".
func count(s string) (int64, error) {
	digits, _, _ := strings.Cut(s, " ")
	v, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || v == 0xffffffff {
		return 0, sut.ErrNoValue
	}
	return int64(v), nil
}

// celsius reads "41 C"; what no chip survives is no temperature.
func celsius(s string) (float64, error) {
	v, err := number(s)
	if err != nil || v > 200 {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// margin reads how far a temperature is from its limit: "49 C", and "-3 C" beyond it.
func margin(s string) (float64, error) {
	if beyond, negative := strings.CutPrefix(s, "-"); negative {
		v, err := celsius(beyond)
		return -v, err
	}
	return celsius(s)
}

// percent reads "9 %".
func percent(s string) (float64, error) {
	v, err := number(s)
	if err != nil || v > 100 {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// mebibytes reads "81559 MiB" as bytes.
func mebibytes(s string) (int64, error) {
	v, err := number(s)
	if err != nil || !(strings.HasSuffix(s, "MiB") || !strings.Contains(s, " ")) {
		return 0, sut.ErrNoValue
	}
	return int64(v) << 20, nil
}

// memorySize reads the size of a memory; none at all is no size.
func memorySize(s string) (int64, error) {
	v, err := mebibytes(s)
	if err == nil && v == 0 {
		err = sut.ErrNoValue
	}
	return v, err
}

func enabled(s string) (bool, error) {
	switch s {
	case "Enabled":
		return true, nil
	case "Disabled":
		return false, nil
	}
	return false, sut.ErrNoValue
}

func yes(s string) (bool, error) {
	switch s {
	case "Yes":
		return true, nil
	case "No":
		return false, nil
	}
	return false, sut.ErrNoValue
}

// word writes one of nvidia-smi's states as the SUT does: "Exclusive_Process" is "exclusive process".
func word(s string) (string, error) {
	return strings.ToLower(strings.ReplaceAll(s, "_", " ")), nil
}

// pciMaker reads the vendor's half of a word of two ids.
func pciMaker(s string) (string, error) {
	s = strings.TrimPrefix(strings.ToLower(s), "0x")
	if len(s) != 8 {
		return "", sut.ErrNoValue
	}
	return "0x" + s[4:], nil
}

// pciWord reads "233010DE" or "0x233010DE": the device's id stands before the vendor's; no product has the number 0.
func pciWord(s string) (string, error) {
	s = strings.TrimPrefix(strings.ToLower(s), "0x")
	if len(s) != 8 || strings.HasPrefix(s, "0000") {
		return "", sut.ErrNoValue
	}
	return "0x" + s[:4], nil
}
