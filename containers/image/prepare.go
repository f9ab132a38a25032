package image

import (
	"context"

	"github.com/docker/docker/client"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"assay/fault"
)

// Prepare makes sure that the image is in the engine and is the one that was pinned, and says what it is. Only a missing image is pulled:
// the engine asks the registry even for one that it has.
func Prepare(ctx context.Context, c *client.Client, w Wanted, tell func(Progress)) (Identity, error) {
	return prepare(ctx, c, w, usualLimits(), tell)
}

func prepare(ctx context.Context, c *client.Client, w Wanted, l limits, tell func(Progress)) (Identity, error) {
	ref, err := w.parse(ctx)
	if err != nil {
		return Identity{}, err
	}
	e, err := engineOf(ctx, c)
	if err != nil {
		return Identity{}, err
	}
	m, unknown, err := fetch(ctx, c, w, ref, e, l, tell)
	if err != nil {
		return Identity{}, err
	}
	i, err := identify(ctx, c, w, ref, m, e)
	if err != nil {
		return Identity{}, err
	}
	if unknown != nil {
		i.Unknown = fault.Of(unknown, fault.Image).Text
	}
	i.Base, err = prove(ctx, c, w, i.Layers, e)
	return i, err
}

// identify finds the image in the engine, compares and describes it.
func identify(ctx context.Context, c *client.Client, w Wanted, ref name.Reference, m manifest, e engine) (Identity, error) {
	img, found, err := stored(ctx, c, ref, m)
	if err != nil {
		return Identity{}, err
	}
	if !found {
		return Identity{}, fault.New(fault.Image, "not_stored", "look at the engine's log", "image %s was fetched but the engine does not have it", ref)
	}
	if err := verify(img, ref, m, e); err != nil {
		return Identity{}, err
	}
	return describe(img, w, ref, m, e), nil
}

// fetch brings the image into the engine if it is not there. It gives what file or registry tell of it, and why the registry did not.
func fetch(ctx context.Context, c *client.Client, w Wanted, ref name.Reference, e engine, l limits, tell func(Progress)) (m manifest, unknown, err error) {
	if w.File != "" {
		m, err = fromFile(ctx, c, w, ref, e, tell)
		return m, nil, err
	}
	_, named, err := stored(ctx, c, ref, manifest{})
	if err != nil {
		return manifest{}, nil, err
	}
	auth, unknown := credentials(ctx, ref)
	if unknown == nil {
		m, unknown = ask(ctx, ref, auth, e.platform())
	} else if !named {
		return manifest{}, nil, unknown
	}
	if !named {
		_, named, err = stored(ctx, c, ref, m)
	}
	if err != nil {
		return m, unknown, err
	}
	if !named {
		return m, unknown, fromRegistry(ctx, c, ref, auth, e, m, unknown, l, tell)
	}
	tell(Progress{Status: "already present"})
	return m, unknown, nil
}

// fromRegistry lets the engine pull the image, when it can fit and is for this machine.
func fromRegistry(ctx context.Context, c *client.Client, ref name.Reference, auth account, e engine, m manifest, unknown error, l limits, tell func(Progress)) error {
	if unknown != nil && fault.Of(unknown, fault.Image).Code == "image.platform_missing" {
		return unknown
	}
	j := job{image: ref.String(), auth: auth, manifest: m, limits: l}
	if m.known() {
		var err error
		if j.have, err = present(ctx, c, m.layers); err != nil {
			return err
		}
		if err := e.enough(ref.String(), m.bytes(j.have)); err != nil {
			return err
		}
	}
	return j.pull(ctx, c, tell)
}

// fromFile loads the image of a file, unless the engine has it.
func fromFile(ctx context.Context, c *client.Client, w Wanted, ref name.Reference, e engine, tell func(Progress)) (manifest, error) {
	f, err := openFile(w.File)
	if err != nil {
		return manifest{}, err
	}
	m, err := f.find(ref, e.platform())
	if err != nil {
		return manifest{}, err
	}
	_, found, err := stored(ctx, c, ref, m)
	if err != nil {
		return manifest{}, err
	}
	if found {
		tell(Progress{Status: "already present"})
		return m, nil
	}
	if err := e.enough(w.File, f.bytes); err != nil {
		return manifest{}, err
	}
	return m, f.load(ctx, c, m, tell)
}

// ask asks the registry, within a limit: an engine may know a way to it that this program does not.
func ask(ctx context.Context, ref name.Reference, auth account, platform v1.Platform) (manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	return lookup(ctx, ref, auth, platform)
}
