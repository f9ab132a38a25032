package nvidia

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// report is what nvidia-smi told: its record of the GPUs, and what that record lacks.
type report struct {
	log          *node
	source       string            // the command that gave the record
	failure      error             // why there is none
	links        []deviceLinks     // by GPU, as nvidia-smi orders them
	instances    []deviceInstances // of MIG
	peers        matrix            // of whether GPUs read each other's memory
	matrix       matrix            // of the ways between GPUs
	capabilities map[string]string // address → compute capability
	confidential sut.Fact[string]  // of all GPUs
}

// form is a way to ask for the record.
type form struct {
	source string
	argv   func(context.Context, host.Host) []string
	parse  func([]byte) (*node, error)
}

// forms are the XML, the text, and a query of what the driver knows of the fields that matter most.
func forms() []form {
	always := func(argv ...string) func(context.Context, host.Host) []string {
		return func(context.Context, host.Host) []string { return argv }
	}
	return []form{
		{"nvidia-smi -q -x", always("nvidia-smi", "-q", "-x"), parseXML},
		{"nvidia-smi -q", always("nvidia-smi", "-q"), parseText},
		{"nvidia-smi --query-gpu", func(ctx context.Context, h host.Host) []string {
			return []string{"nvidia-smi", "--query-gpu=" + fieldList(askFields(ctx, h, coreFields(), coreFields())), "--format=csv"}
		}, parseCSV},
	}
}

func coreFields() []string {
	return strings.Split("count,index,name,uuid,pci.bus_id,pci.device_id,pci.sub_device_id,driver_version,vbios_version,memory.total,memory.used,persistence_mode,ecc.mode.current,"+
		"mig.mode.current,compute_mode,power.limit,enforced.power.limit,power.default_limit,power.min_limit,power.max_limit,pcie.link.gen.current,pcie.link.gen.max,"+
		"pcie.link.width.current,pcie.link.width.max,temperature.gpu,clocks.max.graphics,clocks.max.memory", ",")
}

// askAll asks nvidia-smi. Every start of it can take seconds, or until its limit where a GPU is lost, so the questions go out at once.
func askAll(ctx context.Context, h host.Host, cards []pci.Device) report {
	var r report
	var wg sync.WaitGroup
	wg.Go(func() { r.log, r.source, r.failure = askRecord(ctx, h, cards) })
	wg.Go(func() { r.links = parseNVLinks(answer(ctx, h, "nvidia-smi", "nvlink", "-s")) })
	wg.Go(func() { r.matrix = parseTopology(answer(ctx, h, "nvidia-smi", "topo", "-m")) })
	wg.Go(func() { r.peers = parsePeers(answer(ctx, h, "nvidia-smi", "topo", "-p2p", "r")) })
	wg.Go(func() { r.instances = parseInstances(answer(ctx, h, "nvidia-smi", "-L")) })
	wg.Go(func() { r.capabilities = askCapabilities(ctx, h) })
	wg.Go(func() { r.confidential = askConfidential(ctx, h) })
	wg.Wait()
	return r
}

// askRecord takes the first form that gives a record. When the tool is not there or hangs, no other form is tried; when it refuses all of
// them, which it does when one GPU is lost, each GPU of the bus is asked for alone.
func askRecord(ctx context.Context, h host.Host, cards []pci.Device) (log *node, source string, failure error) {
	for _, f := range forms() {
		log, err := run(ctx, h, f.parse, f.argv(ctx, h)...)
		if err == nil {
			return log, f.source, nil
		}
		if failure == nil || errors.Is(failure, host.ErrNotFound) {
			failure = err
		}
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || (h.Live && errors.Is(err, host.ErrNotFound)) {
			return nil, "", failure
		}
	}
	if log := askEach(ctx, h, cards); log != nil {
		return log, "nvidia-smi -q -x -i", nil
	}
	return nil, "", failure
}

// askEach puts a record together from those of single GPUs; nil when none answers.
func askEach(ctx context.Context, h host.Host, cards []pci.Device) *node {
	if len(cards) < 2 {
		return nil
	}
	logs := make([]*node, len(cards))
	var wg sync.WaitGroup
	for i, c := range cards {
		wg.Go(func() { logs[i], _ = run(ctx, h, parseXML, "nvidia-smi", "-q", "-x", "-i", c.Address) })
	}
	wg.Wait()
	var all *node
	for _, log := range logs {
		switch {
		case log == nil:
		case all == nil:
			all = log
		default:
			all.kids = append(all.kids, log.all("gpu")...)
		}
	}
	if all != nil {
		all.put("attached_gpus", strconv.Itoa(len(all.all("gpu"))))
	}
	return all
}

// run runs a command and reads what it prints. What it says when it fails is the reason.
func run(ctx context.Context, h host.Host, parse func([]byte) (*node, error), argv ...string) (*node, error) {
	out, err := h.Run(ctx, argv...)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, hung{}
	case err != nil:
		return nil, err
	}
	if out.Exit != 0 {
		return nil, fmt.Errorf("nvidia-smi exits %d: %s", out.Exit, firstLine(string(out.Stdout)+string(out.Stderr)))
	}
	return parse([]byte(plain(string(out.Stdout))))
}

// hung is a tool that did not come back, in words for a reader.
type hung struct{}

// Error says it.
func (hung) Error() string { return "nvidia-smi did not answer in time" }

// Unwrap is the cause.
func (hung) Unwrap() error { return context.DeadlineExceeded }

// answer gives a command's text without the escapes that colour and underline it, "" when it has none.
func answer(ctx context.Context, h host.Host, argv ...string) string {
	out, err := h.Run(ctx, argv...)
	if err != nil {
		return ""
	}
	return plain(string(out.Stdout))
}

// plain takes the escapes of a terminal out of a text.
func plain(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	return regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`).ReplaceAllString(s, "")
}

func askCapabilities(ctx context.Context, h host.Host) map[string]string {
	byAddress := map[string]string{}
	if log, err := run(ctx, h, parseCSV, "nvidia-smi", "--query-gpu=pci.bus_id,compute_cap", "--format=csv"); err == nil {
		for _, g := range log.all("gpu") {
			byAddress[g.address()] = g.fact("", "compute_cap").Value
		}
	}
	return byAddress
}

// askConfidential reads the state of confidential computing, which is one for all GPUs.
func askConfidential(ctx context.Context, h host.Host) sut.Fact[string] {
	const source = "nvidia-smi conf-compute -q"
	return parseConfidential(answer(ctx, h, strings.Fields(source)...), source)
}

// parseConfidential reads "CC State : ON". GPUs that are protected on the bus alone say OFF there, and have a mode.
func parseConfidential(text, source string) sut.Fact[string] {
	said := host.KeyValues(text, ":")
	state := strings.ToLower(said["CC State"])
	if mode := strings.ToLower(said["Multi-GPU Mode"]); state == "off" && mode != "none" && isValue(mode) {
		state = mode
	}
	if !isValue(state) {
		return sut.Unknown[string]("%s gives no state", source)
	}
	return sut.Known(state, source)
}
