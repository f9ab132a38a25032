package probes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"assay/probes/check"
	"assay/probes/host"
)

// errAskedBefore is why a source of askedOnce tells nothing at a later look.
var errAskedBefore = errors.New("is asked at the first look alone")

// askedOnce are the sources, by what their names begin with, that take seconds to answer and tell of a machine that is up what does not
// change, or what drift does not look at. What the kernel and the first source of a GPU tell is no part of it.
func askedOnce() []string {
	return []string{"amd-smi ", "rocm-smi ", "nvidia-smi conf-compute ", "nvidia-smi topo -p2p ", "ipmitool ", "smartctl", "nicctl", host.RedfishRoot}
}

func isAskedOnce(source string) bool {
	return slices.ContainsFunc(askedOnce(), func(name string) bool { return strings.HasPrefix(source, name) })
}

// ReadAgain is Read for a later look at the machine that before is of, to find what changed. Slow second sources are not asked; what they
// alone told before stands as it was. Where a GPU is known by such a source only, everything is asked.
func ReadAgain(ctx context.Context, h Host, p Program, before SUT) SUT {
	if slices.ContainsFunc(before.Accelerators.Items, func(a Accelerator) bool { return isAskedOnce(a.Vendor.Source) }) {
		return Read(ctx, h, p)
	}
	if ask := h.Exec; ask != nil {
		h.Exec = func(ctx context.Context, argv ...string) (Output, error) {
			if isAskedOnce(strings.Join(argv, " ")) {
				return Output{}, errAskedBefore
			}
			return ask(ctx, argv...)
		}
	}
	if h.BMC != nil {
		h.BMC = func(context.Context, string) ([]byte, error) { return nil, errAskedBefore }
	}
	return check.RememberOf(isAskedOnce, before, Read(ctx, h, p))
}
