package host

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"assay/probes/disguise"
)

// cleanRedfish keeps of a BMC's answer what the probes read. A BMC knows serial numbers, addresses, accounts and the host's name, so keys
// that are not known to be harmless go.
func cleanRedfish(b []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) != nil {
		return []byte("{}\n")
	}
	out, err := json.Marshal(harmless(doc))
	if err != nil {
		return []byte("{}\n")
	}
	return append(out, '\n')
}

// bmcSerials cuts the serial numbers that the BMC told.
func (r *recording) bmcSerials() func(string) string {
	var answers []any
	for name, b := range r.files {
		var doc any
		if strings.HasPrefix(name, RedfishRoot) && json.Unmarshal(b, &doc) == nil {
			answers = append(answers, doc)
		}
	}
	return disguise.Serials(answers)
}

// redfishKeys are the properties that a capture keeps.
func redfishKeys() []string {
	return []string{
		"@odata.id", "@odata.type", "Members", "Id", "RedfishVersion", "Vendor", "Product",
		"Systems", "Chassis", "Managers", "Links", "ManagedBy", "ComputerSystems", "Contains", "PoweredBy",
		"Manufacturer", "Model", "FirmwareVersion", "ManagerType", "ChassisType", "BiosVersion", "SystemType", "PowerState",
		"Power", "PowerSubsystem", "PowerSupplies", "PowerSupplyRedundancy", "EnvironmentMetrics", "ThermalSubsystem", "CoolantConnectors", "Metrics",
		"PowerControl", "PowerConsumedWatts", "PowerCapacityWatts", "PowerAllocatedWatts", "PowerAvailableWatts", "PowerRequestedWatts", "PowerLimit", "LimitInWatts",
		"PowerLimitWatts", "SetPoint", "ControlMode", "AllowableMax", "PowerWatts", "Reading", "CapacityWatts", "Allocation", "AllocatedWatts", "RequestedWatts", "PowerMetrics",
		"AverageConsumedWatts", "MaxConsumedWatts", "MinConsumedWatts", "IntervalInMin", "EnergykWh",
		"InputPowerWatts", "OutputPowerWatts", "PowerInputWatts", "PowerOutputWatts", "LastPowerOutputWatts", "LineInputVoltage", "LineInputStatus", "InputRanges",
		"OutputWattage", "CapacityWatts", "PowerSupplyType", "MemberId", "Name",
		"Redundancy", "RedundancyGroup", "RedundancySet", "RedundancyType", "RedundancyEnabled", "Mode", "MinNumNeeded", "MaxNumSupported", "MinNeededInGroup", "MaxSupportedInGroup",
		"Status", "Health", "HealthRollup", "State",
		"Processors", "ProcessorType", "TDPWatts", "MaxTDPWatts", "ProcessorSummary", "Count", "CoreCount",
		"Memory", "MemorySummary", "TotalSystemMemoryGiB", "CapacityMiB", "MemoryDeviceType", "BaseModuleType", "OperatingSpeedMhz", "AllowedSpeedsMHz", "DeviceLocator",
		"Socket", "Slot", "error", "code", "message",
	}
}

// harmless keeps known keys, at every depth.
func harmless(v any) any {
	keys := redfishKeys()
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if link, _ := v[k].(string); !slices.Contains(keys, k) || k == "@odata.id" && !strings.HasPrefix(link, RedfishRoot) {
				delete(v, k)
				continue
			}
			v[k] = harmless(v[k])
		}
	case []any:
		for i := range v {
			v[i] = harmless(v[i])
		}
	}
	return v
}
