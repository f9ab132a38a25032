package gpu

import (
	"slices"
	"strconv"
	"strings"
)

// VisibleVariables are the variables by which a process is told its GPUs; one that is inherited or written beside server.gpus would select
// among the selected.
func VisibleVariables() []string {
	return []string{"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "NVIDIA_VISIBLE_DEVICES"}
}

// Visible is what keeps a process to the chosen devices: one variable for each vendor that the machine has, by UUID where all are told and a device
// is whole, else by indices whose order is the one that this room counts in.
func (c Choice) Visible() map[string]string {
	env := map[string]string{}
	for _, d := range c.here {
		switch d.Vendor {
		case NVIDIA:
			env["CUDA_VISIBLE_DEVICES"] = c.cuda(env)
		case AMD:
			env["ROCR_VISIBLE_DEVICES"] = c.rocr()
		}
	}
	return env
}

// cuda lists devices by UUID; CUDA's own order puts the fastest first, so that indices need the order of the bus beside them.
func (c Choice) cuda(env map[string]string) string {
	words, byIndex := slices.Clone(c.Parts), false
	for _, d := range c.Devices {
		if d.Vendor == NVIDIA {
			words, byIndex = append(words, d.UUID), byIndex || d.UUID == ""
		}
	}
	if !byIndex {
		return strings.Join(words, ",")
	}
	env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
	return strings.Join(slices.Concat(c.Parts, c.places(NVIDIA)), ",")
}

// places are the chosen devices of a vendor by their place among all of it.
func (c Choice) places(vendor string) (list []string) {
	for _, d := range c.Devices {
		if d.Vendor == vendor {
			list = append(list, c.placeOf(d))
		}
	}
	return list
}

// placeOf is a device's place among all of its vendor.
func (c Choice) placeOf(device Device) string {
	place := 0
	for _, d := range c.here {
		if d.PCI == device.PCI {
			break
		}
		if d.Vendor == device.Vendor {
			place++
		}
	}
	return strconv.Itoa(place)
}

// rocr lists whole devices by UUID, and the parts of divided ones, whose UUID is the same, by their place in the driver's topology.
func (c Choice) rocr() string {
	var uuids, places []string
	byPlace := false
	for _, d := range c.Devices {
		if d.Vendor != AMD {
			continue
		}
		uuids, byPlace = append(uuids, d.UUID), byPlace || d.UUID == "" || len(d.agents) > 1
		for _, place := range d.agents {
			places = append(places, strconv.Itoa(place))
		}
	}
	switch {
	case byPlace && len(places) == 0: // the topology cannot be read
		return strings.Join(c.places(AMD), ",")
	case byPlace:
		return strings.Join(places, ",")
	}
	return strings.Join(uuids, ",")
}
