package nvidia

import (
	"slices"
	"strings"
	"testing"

	"assay/probes/sut"
)

// recordOf makes a record of one GPU from what stands in its element.
func recordOf(t testing.TB, body string) *node {
	t.Helper()
	log, err := parseXML([]byte(`<nvidia_smi_log><attached_gpus>1</attached_gpus><gpu id="00000000:0A:00.0">` + body + `</gpu></nvidia_smi_log>`))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func deviceOf(t testing.TB, body string) sut.Accelerator { return first(recordOf(t, body)) }

// TestErrors: kinds of memory are summed as far as they are told; a query gives the sum; old devices count by bits.
func TestErrors(t *testing.T) {
	a := deviceOf(t, `<ecc_errors><volatile><sram_correctable>3</sram_correctable><sram_uncorrectable_parity>1</sram_uncorrectable_parity><sram_uncorrectable_secded>2</sram_uncorrectable_secded>
<dram_correctable>40</dram_correctable><dram_uncorrectable>N/A</dram_uncorrectable></volatile><aggregate><sram_correctable>N/A</sram_correctable><dram_correctable>N/A</dram_correctable></aggregate></ecc_errors>`).RAS
	if a.Correctable.Value != 43 || a.Uncorrectable.Value != 3 || a.LifeCorrectable.IsKnown() || a.LifeUncorrectable.IsKnown() || a.LifeCorrectable.Unknown == "" {
		t.Errorf("%+v", a)
	}
	a = deviceOf(t, `<ecc_errors><volatile><single_bit><device_memory>1</device_memory><total>5</total></single_bit><double_bit><total>0</total></double_bit></volatile></ecc_errors>`).RAS
	if a.Correctable.Value != 5 || !a.Uncorrectable.IsKnown() || a.Uncorrectable.Value != 0 {
		t.Errorf("by bits: %+v", a)
	}
	log, err := parseCSV([]byte("pci.bus_id, ecc.errors.corrected.volatile.total, ecc.errors.uncorrected.volatile.total, ecc.errors.uncorrected.aggregate.total\n00000000:01:00.0, 7, [N/A], 18446744073709551615\n"))
	if err != nil {
		t.Fatal(err)
	}
	if a := first(log).RAS; a.Correctable.Value != 7 || a.Uncorrectable.IsKnown() || a.LifeUncorrectable.IsKnown() {
		t.Errorf("a query: %+v", a)
	}
}

// TestRepair: remapped rows or retired pages, what waits for a reset, and what can no longer be repaired.
func TestRepair(t *testing.T) {
	const rows = `<remapped_rows><remapped_row_corr>2</remapped_row_corr><remapped_row_unc>1</remapped_row_unc><remapped_row_pending>%</remapped_row_pending><remapped_row_failure>!</remapped_row_failure></remapped_rows>`
	fill := func(pending, failure string) string {
		return strings.NewReplacer("%", pending, "!", failure).Replace(rows)
	}
	const pages = `<retired_pages><multiple_single_bit_retirement><retired_count>4</retired_count></multiple_single_bit_retirement><double_bit_retirement><retired_count>1</retired_count></double_bit_retirement><pending_retirement>Yes</pending_retirement></retired_pages>`
	for name, c := range map[string]struct {
		body         string
		bad, pending int
		failed       bool
		known        [3]bool
	}{
		"rows":             {fill("No", "No"), 3, 0, false, [3]bool{true, true, true}},
		"rows pending":     {fill("Yes", "No"), 3, 1, false, [3]bool{true, true, true}},
		"rows failed":      {fill("No", "Yes"), 3, 0, true, [3]bool{true, true, true}},
		"beyond repair":    {fill("No", "No") + "<ecc_errors><unrepairable_memory>Yes</unrepairable_memory></ecc_errors>", 3, 0, true, [3]bool{true, true, true}},
		"pages":            {"<remapped_rows>N/A</remapped_rows>" + pages, 5, 1, false, [3]bool{true, true, false}},
		"neither":          {"<remapped_rows>N/A</remapped_rows>", 0, 0, false, [3]bool{}},
		"nothing":          {"", 0, 0, false, [3]bool{}},
		"words for others": {fill("ERR!", "Maybe"), 3, 0, false, [3]bool{true, false, false}},
	} {
		r := deviceOf(t, c.body).RAS
		if r.BadPages.Value != c.bad || r.PendingPages.Value != c.pending || r.RemapFailed.Value != c.failed ||
			[3]bool{r.BadPages.IsKnown(), r.PendingPages.IsKnown(), r.RemapFailed.IsKnown()} != c.known {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if why := deviceOf(t, "<remapped_rows>N/A</remapped_rows>").RAS.BadPages.Unknown; !strings.Contains(why, `"N/A" for remapped_rows`) {
		t.Errorf("the reason is %q", why)
	}
}

func TestRecovery(t *testing.T) {
	for body, want := range map[string]string{
		"<gpu_recovery_action>None</gpu_recovery_action>":                                                                                         "none",
		"<gpu_recovery_action>Drain P2P</gpu_recovery_action>":                                                                                    "drain p2p",
		"<gpu_recovery_action>Unknown Error</gpu_recovery_action>":                                                                                "",
		"<gpu_reset_status><reset_required>Yes</reset_required></gpu_reset_status>":                                                               "reset",
		"<gpu_reset_status><reset_required>No</reset_required><drain_and_reset_recommended>Yes</drain_and_reset_recommended></gpu_reset_status>":  "drain and reset",
		"<gpu_reset_status><reset_required>No</reset_required><drain_and_reset_recommended>No</drain_and_reset_recommended></gpu_reset_status>":   "none",
		"<gpu_reset_status><reset_required>N/A</reset_required><drain_and_reset_recommended>N/A</drain_and_reset_recommended></gpu_reset_status>": "",
		"": "",
	} {
		if r := deviceOf(t, body).RAS.RecoveryAction; r.Value != want || (want == "") != (r.Unknown != "") {
			t.Errorf("%s: %+v", body, r)
		}
	}
}

// TestTemperatures: a driver gives limits, or how far the hottest part is from them; one is not made from the other.
func TestTemperatures(t *testing.T) {
	got := deviceOf(t, "<temperature><gpu_temp>27 C</gpu_temp><gpu_temp_tlimit>N/A</gpu_temp_tlimit><gpu_temp_slow_threshold>89 C</gpu_temp_slow_threshold><memory_temp>44 C</memory_temp><gpu_temp_max_mem_threshold>95 C</gpu_temp_max_mem_threshold></temperature>").Temperatures
	if got.EdgeC.Value != 27 || got.EdgeLimitC.Value != 89 || got.MemC.Value != 44 || got.MemLimitC.Value != 95 || got.MarginC.IsKnown() {
		t.Errorf("%+v", got)
	}
	got = deviceOf(t, "<temperature><gpu_temp>38 C</gpu_temp><gpu_temp_tlimit>49 C</gpu_temp_tlimit><gpu_temp_slow_tlimit_threshold>-2 C</gpu_temp_slow_tlimit_threshold><memory_temp>N/A</memory_temp></temperature>").Temperatures
	if got.MarginC.Value != 49 || got.EdgeLimitC.IsKnown() || got.MemC.IsKnown() || got.MemLimitC.IsKnown() || got.HotspotC.NA == "" {
		t.Errorf("%+v", got)
	}
	if got := deviceOf(t, "<temperature><gpu_temp_tlimit>-3 C</gpu_temp_tlimit></temperature>").Temperatures.MarginC; !got.IsKnown() || got.Value != -3 {
		t.Errorf("beyond its limit: %+v", got)
	}
	if got := deviceOf(t, "<temperature><gpu_temp>999 C</gpu_temp></temperature>").Temperatures.EdgeC; got.IsKnown() {
		t.Errorf("%+v", got)
	}
}

// TestThrottleReasons: reasons are told in each version's words; counters stand beside them where a driver has them.
func TestThrottleReasons(t *testing.T) {
	a := deviceOf(t, `<clocks_event_reasons><clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle><clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap></clocks_event_reasons>
<clocks_event_reasons_counters><clocks_event_reasons_counters_sw_power_cap>4251825415 us</clocks_event_reasons_counters_sw_power_cap><clocks_event_reasons_counters_hw_power_brake>N/A</clocks_event_reasons_counters_hw_power_brake></clocks_event_reasons_counters>`)
	if !slices.Equal(a.Throttle.Items, []string{"sw_power_cap"}) {
		t.Errorf("%+v", a.Throttle)
	}
	if c := a.ThrottleCounters.Items; len(c) != 1 || c[0].Reason.Value != "power" || c[0].Ticks.Value != 4251825415 || c[0].OfTicks.NA == "" {
		t.Errorf("%+v", a.ThrottleCounters)
	}
	for _, none := range []string{"", "<clocks_event_reasons>N/A</clocks_event_reasons>", "<clocks_throttle_reasons><clocks_throttle_reason_gpu_idle>Unknown Error</clocks_throttle_reason_gpu_idle></clocks_throttle_reasons>"} {
		if a := deviceOf(t, none); a.Throttle.Unknown == "" || a.ThrottleCounters.Unknown == "" {
			t.Errorf("%s: %+v", none, a.Throttle)
		}
	}
}
