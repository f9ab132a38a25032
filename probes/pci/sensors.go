package pci

import (
	"math"
	"strconv"

	"assay/probes/host"
	"assay/probes/sut"
)

// Sensors is the folder of a device's sensors, which has another number at every start; where there is none, a path that says so.
func Sensors(h host.Host, dir string) string {
	if dirs := h.Match(dir+"/hwmon", "hwmon*"); len(dirs) > 0 {
		return dirs[0]
	}
	return dir + "/hwmon/hwmon*"
}

// mostW is above what any device draws; a limit above it is a driver's way to say none.
const mostW = 100_000

// Watts reads a sensor's µW. Zero is what a driver says that does not know.
func Watts(s string) (float64, error) {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil || v == 0 || v > mostW*1e6 || v == math.MaxUint32 {
		return 0, sut.ErrNoValue
	}
	return float64(v) / 1e6, nil
}

// Celsius reads a sensor's m°C; 0 is no reading, and above 200 °C no chip works.
func Celsius(s string) (float64, error) {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil || v == 0 || v > 200_000 {
		return 0, sut.ErrNoValue
	}
	return float64(v) / 1000, nil
}
