package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/plan/spelling"
)

// checkRule is a check that a plan may name, and the value it takes beside a word.
type checkRule struct {
	id    string
	takes string // in words; "" when it takes words alone
	fits  func(value any) bool
}

// checkWords are what a plan may say of every check.
func checkWords() []string { return []string{"required", "relaxed", "ignore"} }

// checkRules is every check; what they look at is known where the machine is read, and where its server is asked.
func checkRules() []checkRule {
	list := []checkRule{
		{"gpu_count", "how many GPUs must answer, a whole number", whole},
		{"driver_equal", "the version of the driver, such as 590.48.01", text(`[0-9][\w.+~-]*`)},
		{"power_cap", `"default" or watts`, either(oneWord("default"), above(0))},
		{"clocks", "the least MHz that the clock must reach", above(0)},
		{"temperature", "the highest °C", above(0)},
		{"vram_free", "the least free GiB of each GPU", above(0)},
		{"partition", "a mode, or compute and memory mode, such as SPX or CPX/NPS4", text(`([SDTQC]PX|MIG)(/NPS[1248])?`)},
		{"governor", "a governor, such as performance", text(`[a-z][a-z0-9_-]*`)},
		{"thp", "always, madvise or never", oneWord("always", "madvise", "never")},
		{"memory", "the least GiB", above(0)},
		{"iommu", "off, identity, DMA or DMA-FQ", oneWord("off", "identity", "DMA", "DMA-FQ")},
		{"aspm", "default, performance, powersave or powersupersave", oneWord("default", "performance", "powersave", "powersupersave")},
		{"host_load", "the highest load for each CPU, such as 0.1", above(0)},
		{"disk_space", "the least free GiB", above(0)},
		{"disk_kind", "a kind, such as nvme", text(`[a-z][a-z0-9.-]*`)},
		{"clocksource", "a clock source, such as tsc", text(`[a-z][a-z0-9_-]*`)},
		{"network_links", "how many ports of InfiniBand and RoCE must be active, a whole number", whole},
		{"files_limit", "the least number of open files", whole},
		{"processes_limit", "the least number of processes and threads", whole},
		{"memlock_limit", "the least GiB that may be locked", above(0)},
		{"virtualization", "a layer as systemd-detect-virt names it, such as none or kvm", text(`[a-z][a-z0-9-]*`)},
	}
	for _, id := range strings.Fields("driver_mixed driver_image throttle ecc gpu_errors bad_pages recovery kernel_log link pcie_errors fabric p2p acs idle persistence numa_balancing swap memory_errors " +
		"taint power_supplies disk_health clock_sync ports cpu_quota container_runtime " +
		"server_version server_context server_kv server_parallel server_model server_dev_mode server_launch server_threads") {
		list = append(list, checkRule{id: id})
	}
	return list
}

// CheckIDs names every check that a plan may say something of.
func CheckIDs() []string {
	var ids []string
	for _, r := range checkRules() {
		ids = append(ids, r.id)
	}
	return ids
}

func text(form string) func(any) bool {
	re := regexp.MustCompile("^(?:" + form + ")$")
	return func(v any) bool { return re.MatchString(fmt.Sprint(v)) }
}

func oneWord(words ...string) func(any) bool {
	return func(v any) bool { return slices.Contains(words, fmt.Sprint(v)) }
}

func either(a, b func(any) bool) func(any) bool {
	return func(v any) bool { return a(v) || b(v) }
}

func above(least float64) func(any) bool {
	return func(v any) bool {
		n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		return err == nil && n > least && n < 1e15
	}
}

func whole(v any) bool {
	_, err := strconv.ParseUint(fmt.Sprint(v), 10, 48)
	return err == nil
}

// checks holds what a plan wants of checks against what there is, so that a slip of the pen is the plan's fault and not the machine's.
func (v *validator) checks(checks map[string]any) {
	rules, ids := checkRules(), CheckIDs()
	for id, want := range checks {
		i := slices.Index(ids, id)
		if i < 0 {
			v.fail("checks."+id, "value", "", "checks: there is no check %q%s", id, spelling.Meant(id, ids))
			continue
		}
		v.check(rules[i], want)
	}
}

// check takes a word, a value, or one of each in a list.
func (v *validator) check(r checkRule, want any) {
	path, items := "checks."+r.id, []any{want}
	list, isList := want.([]any)
	if isList {
		items = list
	}
	words, values := 0, 0
	for _, item := range items {
		switch {
		case slices.Contains(checkWords(), fmt.Sprint(item)):
			words++
		case r.wants(item):
			values++
		default:
			v.fail(path, "value", "", "%s is %s%s; %s", path, shown(item), wordMeant(item), r.accepts())
			return
		}
	}
	if len(items) == 0 || words > 1 || values > 1 {
		v.fail(path, "value", "", "%s is %v: a list has one word and one value at most, as [relaxed, 8]; %s", path, want, r.accepts())
	}
}

// shown is a value as a plan writes it.
func shown(value any) string {
	switch value := value.(type) {
	case nil:
		return "empty"
	case string:
		return strconv.Quote(value)
	}
	return fmt.Sprint(value)
}

// wants tells a value that the check can compare with.
func (r checkRule) wants(value any) bool {
	_, isBool := value.(bool)
	return r.fits != nil && !isBool && value != nil && wordMeant(value) == "" && r.fits(value)
}

// accepts says what may be written.
func (r checkRule) accepts() string {
	words := "write required, relaxed or ignore"
	if r.takes == "" {
		return words + "; this check takes no value"
	}
	return words + ", or " + r.takes
}

// wordMeant recognises a word for all checks in other letters.
func wordMeant(value any) string {
	s, isText := value.(string)
	for _, w := range checkWords() {
		if isText && strings.EqualFold(strings.TrimSpace(s), w) {
			return fmt.Sprintf(" (did you mean %q?)", w)
		}
	}
	return ""
}
