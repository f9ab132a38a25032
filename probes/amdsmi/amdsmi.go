package amdsmi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// askLimit bounds one command. amd-smi starts in a second and answers for eight GPUs in a few; when it hangs it does so for a minute.
const askLimit = 10 * time.Second

// Limit bounds Probe: after two commands that hung no other is tried.
const Limit = 4 * askLimit

// Probe asks amd-smi, and rocm-smi where there is none, about AMD GPUs. On a machine that has none nothing is started.
func Probe(ctx context.Context, h host.Host, s *sut.SUT) error {
	if cards, complete := pci.Accelerators(h, pci.AMD); complete && len(cards) == 0 && h.Absent("/sys/class/kfd") {
		s.Accelerators = sut.List[sut.Accelerator]{Unknown: "no AMD accelerator is there to ask about"}
		return nil
	}
	amd, err := readAMDSMI(ctx, h)
	if err == nil {
		amd.fill(s, h)
		return nil
	}
	rocm, rocmErr := readROCmSMI(ctx, h)
	if rocmErr == nil {
		rocm.fill(s, h)
		return nil
	}
	s.Accelerators.Unknown = fmt.Sprintf("%s; %s", err, rocmErr)
	s.Software.AMDGPU, s.Software.ROCm = sut.Unknown[string]("%s", err), sut.Unknown[string]("%s", err)
	return nil
}

// command is what one command printed.
type command struct {
	name string // "amd-smi static"
	docs []any
	err  error
}

// ask runs a tool within its limit and reads the JSON it prints.
func ask(ctx context.Context, h host.Host, argv ...string) command {
	c := command{name: strings.TrimSuffix(strings.Join(argv, " "), " --json")}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	out, err := h.Run(ctx, argv...)
	switch {
	case errors.Is(err, host.ErrNotFound):
		c.err = errNotThere
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		c.err = errHung
	case err != nil:
		c.err = err
	default:
		c.docs, c.err = documents(out.Stdout)
		if text := string(out.Stdout) + string(out.Stderr); c.err != nil && strings.Contains(text, "required groups") {
			c.err = errors.New("needs root or the groups render and video")
		} else if c.err != nil && out.Exit != 0 {
			c.err = fmt.Errorf("%w (exit %d)", c.err, out.Exit)
		}
	}
	return c
}

var (
	errNotThere = errors.New("is not installed")
	errHung     = errors.New("took too long and was stopped")
)

// of gives the answer for one GPU, by the tool's own number.
func (c command) of(index int) answer {
	a := answer{command: c.name, why: c.err}
	for _, n := range entries(c.docs) {
		if n.index() == index {
			a.node = n
			return a
		}
	}
	return a
}

// smi is everything amd-smi said.
type smi struct{ list, static, partition, firmware, metric, version command }

// readAMDSMI asks for one thing after the other, since runs of the tool wait for each other. What does not answer costs its own facts.
func readAMDSMI(ctx context.Context, h host.Host) (smi, error) {
	var t smi
	hung := 0
	for _, c := range []struct {
		to   *command
		name string
	}{{&t.list, "list"}, {&t.static, "static"}, {&t.version, "version"}, {&t.partition, "partition"}, {&t.firmware, "firmware"}, {&t.metric, "metric"}} {
		if hung > 1 {
			*c.to = command{name: "amd-smi " + c.name, err: errors.New("was not asked, since others took too long")}
			continue
		}
		*c.to = ask(ctx, h, "amd-smi", c.name, "--json")
		if errors.Is(c.to.err, errHung) {
			hung++
		}
	}
	if len(entries(t.list.docs)) == 0 && len(entries(t.static.docs)) == 0 {
		return t, t.silence()
	}
	return t, nil
}

// silence says why the tool told of no GPU.
func (t smi) silence() error {
	for _, c := range []command{t.static, t.list} {
		if errors.Is(c.err, errNotThere) {
			continue
		}
		if c.err != nil {
			return fmt.Errorf("%s: %w", c.name, c.err)
		}
		return fmt.Errorf("%s lists no GPU", c.name)
	}
	return fmt.Errorf("amd-smi %w", errNotThere)
}

// fill puts the devices and versions into the SUT.
func (t smi) fill(s *sut.SUT, h host.Host) {
	for _, d := range devices(t) {
		s.Accelerators.Items = append(s.Accelerators.Items, d.read(t, h))
	}
	v := answer{command: t.version.name, why: t.version.err}
	if list := entries(t.version.docs); len(list) > 0 {
		v.node = list[0]
	}
	s.Software.ROCm = v.text("rocm_version")
	s.Software.AMDGPU = sut.Unknown[string]("amd-smi lists no GPU with a driver")
	for _, a := range s.Accelerators.Items {
		s.Software.AMDGPU = sut.First(s.Software.AMDGPU, a.DriverVersion)
	}
}
