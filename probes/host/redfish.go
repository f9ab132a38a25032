package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
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

// WithoutSerials gives a function that puts serial1, serial2, … in the place of the serial numbers in a BMC's answers: some BMCs name their
// resources by them.
func WithoutSerials(answers []any) func(string) string {
	found := map[string]bool{}
	for _, doc := range answers {
		findSerials(doc, found)
	}
	marks, words := map[string]string{}, []string{}
	for i, serial := range slices.Sorted(maps.Keys(found)) {
		marks[serial] = fmt.Sprint("serial", i+1)
		words = append(words, regexp.QuoteMeta(serial))
	}
	if len(words) == 0 {
		return func(s string) string { return s }
	}
	slices.Reverse(words) // of two that begin alike the longer goes first
	serial := regexp.MustCompile(`\b(?:` + strings.Join(words, "|") + `)\b`)
	return func(s string) string {
		return serial.ReplaceAllStringFunc(s, func(found string) string { return marks[found] })
	}
}

// findSerials looks for texts that are called serial numbers; a short one may be a word of another meaning.
func findSerials(v any, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			text, _ := below.(string)
			if slices.Contains([]string{"SerialNumber", "AssetTag", "ServiceTag"}, key) && len(text) >= 6 && strings.ContainsAny(text, "0123456789") {
				found[text] = true
			}
			findSerials(below, found)
		}
	case []any:
		for _, below := range v {
			findSerials(below, found)
		}
	}
}

// bmcSerials is WithoutSerials of what was read.
func (r *recording) bmcSerials() func(string) string {
	var answers []any
	for name, b := range r.files {
		var doc any
		if strings.HasPrefix(name, RedfishRoot) && json.Unmarshal(b, &doc) == nil {
			answers = append(answers, doc)
		}
	}
	return WithoutSerials(answers)
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
