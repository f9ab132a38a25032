package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"assay/archive"
	"assay/cmd/assay/arg"
	"assay/cmd/assay/output"
	"assay/containers"
	"assay/fault"
	"assay/probes"
	"assay/report"
)

// captureLimit bounds a capture; a probe alone takes about a second.
const captureLimit = 2 * time.Minute

type probeOptions struct {
	json, plain        bool
	out, capture, from string
}

func (a *app) probeCommand() *cobra.Command {
	var o probeOptions
	c := &cobra.Command{
		Use:   "probe",
		Short: "what this machine is, every fact with its source",
		Example: "  assay probe\n  assay probe --json --out sut.json\n  assay probe --capture machine.tar.gz\n" +
			"  assay probe --from machine.tar.gz --plain",
		RunE: func(c *cobra.Command, _ []string) error {
			err := cmp.Or(arg.NoneEmpty(c, "out", "capture", "from"), arg.Apart(c, "capture", "json", "plain", "out"), arg.Apart(c, "plain", "json"))
			if err != nil {
				return err
			}
			return a.probe(c.Context(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "the SUT document")
	f.BoolVar(&o.plain, "plain", false, "the SUT document with bare values")
	f.StringVar(&o.out, "out", "", "write to `FILE` instead of standard output")
	f.StringVar(&o.capture, "capture", "", "write what was read, anonymised, to `FILE`.tar.gz")
	f.StringVar(&o.from, "from", "", "read the capture `DIR|FILE` instead of this machine")
	return c
}

func (a *app) probe(ctx context.Context, o probeOptions) (err error) {
	host, done, err := a.openHost(ctx, o.from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if _, lasting := archive.Salt(a.data); o.from == "" && !lasting {
		fmt.Fprintf(a.stderr, "hashes of serial numbers hold within this document alone: %s has no %s, which the first run makes\n", a.data, archive.KeyName)
	}
	if o.capture != "" {
		return a.capture(ctx, host, o.capture)
	}
	var b bytes.Buffer
	sut := probes.Read(ctx, host, program())
	if err := ctx.Err(); err != nil {
		return err // what was not read is no fact of the machine
	}
	if err := writeSUT(&b, sut, o); err != nil {
		return err
	}
	if o.out == "" {
		_, err := a.stdout.Write(b.Bytes())
		return err
	}
	return output.Write(fault.Preflight, o.out, output.Bytes(b.Bytes()))
}

// openHost gives this machine, or a capture when from names one.
func (a *app) openHost(ctx context.Context, from string) (probes.Host, func() error, error) {
	if from == "" {
		return a.live(), func() error { return nil }, nil
	}
	return probes.FromCapture(ctx, from)
}

// live is this machine; hashes of its serial numbers are those of the data directory.
func (a *app) live() probes.Host {
	h := probes.Live()
	h.Salt, _ = archive.Salt(a.data)
	h.Engine = containers.FindDocker(a.docker, a.getenv).Path()
	return h
}

func writeSUT(w io.Writer, sut probes.SUT, o probeOptions) error {
	switch {
	case o.plain:
		b, err := probes.Plain(sut)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", bytes.TrimSpace(b))
		return err
	case o.json:
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(sut)
	}
	report.SUTText(w, sut)
	return nil
}

func (a *app) capture(ctx context.Context, host probes.Host, name string) error {
	ctx, cancel := context.WithTimeout(ctx, captureLimit)
	defer cancel()
	if err := output.Write(fault.Preflight, name, func(w io.Writer) error { return probes.Capture(ctx, host, w) }); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "wrote %s; names, serials and addresses in it are replaced\n", name)
	return nil
}
