package pinning

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"assay/agent/planfiles"
	"assay/containers"
	"assay/fault"
	"assay/plan"
)

// limit bounds the questions to registries whose answers only make a message better.
const limit = 8 * time.Second

// named is an image of a plan.
type named struct{ key, ref string }

// tags lists the images of a plan that have no digest.
func tags(p plan.Plan) []named {
	all := []named{{"server.image", p.Server.Image}, {"server.base_image", p.Server.BaseImage}, {"client.image", p.Client.Image}}
	for i, r := range p.Routers {
		all = append(all, named{fmt.Sprintf("routers.%d.image", i), r.Image})
	}
	var out []named
	for _, n := range all {
		if n.ref != "" && !strings.Contains(n.ref, "@sha256:") {
			out = append(out, n)
		}
	}
	return out
}

// Local gives an image of this machine's container engine by its id; "" when the engine has none of that tag.
type Local func(ctx context.Context, tag string) string

// Sets gives what must be set in a plan, whose relative names begin at dir, so that everything it names is pinned; it says each on w.
func Sets(ctx context.Context, p plan.Plan, dir string, local Local, w io.Writer) ([]string, error) {
	var sets []string
	for _, n := range tags(p) {
		pinned, err := containers.ResolveDigest(ctx, n.ref)
		if err != nil {
			return nil, here(ctx, err, n, local)
		}
		fmt.Fprintf(w, "%s: %s → %s\n", n.key, n.ref, pinned)
		sets = append(sets, n.key+"="+pinned)
	}
	sum, err := planfiles.DatasetSHA256(ctx, p, dir)
	if err != nil || sum == "" {
		return sets, err
	}
	fmt.Fprintf(w, "workload.dataset: sha256 %s\n", sum)
	return append(sets, "workload.dataset.sha256="+sum), nil
}

// here adds to what a registry failed for that the image is on this machine, where it is.
func here(ctx context.Context, failed error, n named, local Local) error {
	id := local(ctx, n.ref)
	if id == "" {
		return failed
	}
	f := *fault.Of(failed, fault.Image)
	f.Hint = "no registry tells of it, but this machine's container engine has it: write " + n.key + ": " + id + ", which pins it here; others need it from a registry or as server.image_file"
	return &f
}

// Explain adds to the refusal of a plan's tags what they name now, as far as their registries and this machine tell in time. Read gives the plan as if tags
// were allowed. Every other error is given as it is.
func Explain(ctx context.Context, refusal error, local Local, read func() (plan.Plan, error)) error {
	f := fault.Of(refusal, fault.Plan)
	if f == nil || f.Code != "plan.unpinned" {
		return refusal
	}
	p, err := read()
	if err != nil {
		return refusal
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	told := *f
	for _, n := range tags(p) {
		if pinned, err := containers.ResolveDigest(ctx, n.ref); err == nil {
			told.Text += fmt.Sprintf("\n  %s is now %s", n.key, pinned)
		} else if id := local(ctx, n.ref); id != "" {
			told.Text += fmt.Sprintf("\n  %s is on this machine as %s, which pins it here", n.key, id)
		}
	}
	return &told
}
