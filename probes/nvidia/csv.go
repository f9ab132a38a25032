package nvidia

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// columns says where in the tree a field of a CSV query belongs.
func columns() map[string]string {
	const power, gen, width = "gpu_power_readings/", "pci/pci_gpu_link_info/pcie_gen/", "pci/pci_gpu_link_info/link_widths/"
	return map[string]string{
		"name": "product_name", "gpu_name": "product_name", "uuid": "uuid", "gpu_uuid": "uuid", "pci.bus_id": "@id", "gpu_bus_id": "@id",
		"pci.device_id": "pci/pci_device_id", "pci.sub_device_id": "pci/pci_sub_system_id", "vbios_version": "vbios_version", "compute_cap": "compute_cap",
		"addressing_mode": "addressing_mode", "memory.total": "fb_memory_usage/total", "memory.used": "fb_memory_usage/used",
		"persistence_mode": "persistence_mode", "compute_mode": "compute_mode", "mig.mode.current": "mig_mode/current_mig",
		"ecc.mode.current": "ecc_mode/current_ecc", "gpu_recovery_action": "gpu_recovery_action",
		"ecc.errors.corrected.volatile.total": "ecc_errors/volatile/corrected", "ecc.errors.uncorrected.volatile.total": "ecc_errors/volatile/uncorrected",
		"ecc.errors.corrected.aggregate.total": "ecc_errors/aggregate/corrected", "ecc.errors.uncorrected.aggregate.total": "ecc_errors/aggregate/uncorrected",
		"remapped_rows.correctable": "remapped_rows/remapped_row_corr", "remapped_rows.uncorrectable": "remapped_rows/remapped_row_unc",
		"remapped_rows.pending": "remapped_rows/remapped_row_pending", "remapped_rows.failure": "remapped_rows/remapped_row_failure",
		"power.limit": power + "requested_power_limit", "enforced.power.limit": power + "current_power_limit",
		"power.default_limit": power + "default_power_limit", "power.min_limit": power + "min_power_limit", "power.max_limit": power + "max_power_limit",
		"pcie.link.gen.current": gen + "current_link_gen", "pcie.link.gen.gpumax": gen + "max_device_link_gen", "pcie.link.gen.max": gen + "max_link_gen",
		"pcie.link.gen.hostmax": gen + "max_host_link_gen", "pcie.link.width.current": width + "current_link_width", "pcie.link.width.max": width + "max_link_width",
		"temperature.gpu": "temperature/gpu_temp", "temperature.memory": "temperature/memory_temp",
		"clocks.current.graphics": "clocks/graphics_clock", "clocks.current.memory": "clocks/mem_clock",
		"clocks.max.graphics": "max_clocks/graphics_clock", "clocks.max.memory": "max_clocks/mem_clock",
		"clocks.applications.graphics": "applications_clocks/graphics_clock", "clocks.applications.memory": "applications_clocks/mem_clock",
		"fabric.state": "fabric/state", "fabric.status": "fabric/status", "fabric.health.summary": "fabric/health/summary",
	}
}

// table is a CSV answer: its fields without their units, their units, and its rows.
type table struct {
	fields, units []string
	rows          [][]string
}

// parseTable reads `nvidia-smi --query-…=… --format=csv` by its header; units stand there or behind the values.
func parseTable(b []byte) (table, error) {
	r := csv.NewReader(bytes.NewReader(b))
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err != nil {
		return table{}, fmt.Errorf("nvidia-smi's CSV is broken: %w", err)
	}
	if len(rows) == 0 {
		return table{}, errors.New("nvidia-smi printed no CSV header")
	}
	t := table{rows: rows[1:]}
	for _, head := range rows[0] {
		field, unit, _ := strings.Cut(strings.TrimSpace(head), " [")
		t.fields, t.units = append(t.fields, field), append(t.units, strings.TrimSuffix(unit, "]"))
	}
	return t, nil
}

// parseCSV makes a report of a query of GPUs.
func parseCSV(b []byte) (*node, error) {
	t, err := parseTable(b)
	if err != nil {
		return nil, err
	}
	places, log := columns(), &node{}
	for _, row := range t.rows {
		gpu := log.add("gpu", "")
		for i, field := range t.fields {
			value := strings.TrimSpace(row[i])
			switch reason, isReason := cutReason(field); {
			case field == "driver_version" && log.kid("driver_version") == nil:
				log.add("driver_version", value)
			case isReason:
				gpu.put("clocks_event_reasons/"+reason, value)
			case field == "count" && value != strconv.Itoa(len(t.rows)):
				return nil, fmt.Errorf("nvidia-smi counts %s GPUs and lists %d", value, len(t.rows))
			case places[field] != "":
				gpu.put(places[field], value)
			}
		}
		if gpu.kid("@id") == nil {
			return nil, errors.New("nvidia-smi's CSV has no pci.bus_id column")
		}
	}
	return log, nil
}

// cutReason gives the reason that a field of clock events names, in the old or the new name of the group; the masks name none.
func cutReason(field string) (string, bool) {
	for _, group := range []string{"clocks_event_reasons.", "clocks_throttle_reasons."} {
		if reason, ok := strings.CutPrefix(field, group); ok && reason != "active" && reason != "supported" {
			return reason, true
		}
	}
	return "", false
}
