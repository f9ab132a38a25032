package usage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Sensors gives the temperature of the processors and the power of the whole machine, as far as the kernel has sensors for them.
type Sensors struct {
	host host.Host
	list []sensor
}

// sensor is one value of the kernel's hardware monitoring.
type sensor struct {
	file   string
	series string
	parts  float64 // of the series' unit
}

// NewSensors samples the sensors of a host; false when it has none that matter here. Drives have some too, but are disturbed by a reading.
func NewSensors(h host.Host) (*Sensors, bool) {
	s := &Sensors{host: h}
	amd, meters := 0, []string{}
	for _, dir := range h.Match("/sys/class/hwmon", "hwmon*") {
		switch name, _ := h.Text(dir + "/name"); name {
		case "coretemp":
			s.intel(dir)
		case "k10temp": // one for each node of a processor; its first temperature is the control temperature
			s.list = append(s.list, sensor{dir + "/temp1_input", fmt.Sprintf("cpu%d.temp_c", amd), 1000})
			amd++
		case "power_meter":
			meters = append(meters, dir)
		}
	}
	if len(meters) == 1 { // what each of several is of, the kernel does not tell
		s.list = append(s.list, sensor{meters[0] + "/power1_average", "host.wall_w", 1e6})
	}
	return s, len(s.list) > 0
}

// intel finds the temperature of a package among those of its cores.
func (s *Sensors) intel(dir string) {
	for _, label := range s.host.Match(dir, "temp*_label") {
		text, _ := s.host.Text(label)
		if n, ok := strings.CutPrefix(text, "Package id "); ok {
			s.list = append(s.list, sensor{strings.TrimSuffix(label, "label") + "input", "cpu" + plainName(n) + ".temp_c", 1000})
		}
	}
}

// Name is "sensors".
func (s *Sensors) Name() string { return "sensors" }

// Sample gives cpuN.temp_c and host.wall_w. A sensor that cannot be read now is left out.
func (s *Sensors) Sample(context.Context) ([]sut.Sample, error) {
	out := sut.NewBatch()
	var failed error
	for _, one := range s.list {
		text, err := s.host.Text(one.file)
		v, notNumber := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			failed = err
		case notNumber == nil && v > 0: // 0 W and 0 °C is what a sensor without a value says
			out.Add(one.series, float64(v)/one.parts)
		}
	}
	if len(out.List) == 0 && failed != nil {
		return nil, fmt.Errorf("sample sensors: %w", failed)
	}
	return out.List, nil
}
