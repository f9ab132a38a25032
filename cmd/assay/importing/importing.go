package importing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"assay/fault"
	"assay/probes"
	"assay/result"
	"assay/runner/imported"
)

// Options are what the command line says.
type Options struct {
	As  string // name of a format; "" to let the content say
	SUT string // file with the machine that was measured; "" when nobody says
}

// Long describes what can be imported.
func Long() string {
	var b strings.Builder
	b.WriteString(`Keep what another benchmark client measured as a run. Its requests become recordings, of which the same code makes the same figures as of
a run of assay, and what the tool printed stands beside them by formula. The tool's files are kept as they are. Which tool wrote them is
told by their content, or by --as:

`)
	for _, f := range imported.Formats() {
		fmt.Fprintf(&b, "  %-20s %s\n", f.Name, f.Tool)
	}
	b.WriteString(`
What a tool did not say, such as failures that it counts as completed or less load than it was asked for, stands among the reasons. A file
without single requests can be shown and not be checked: such a point is not valid. Exit 0 when all points are valid, else 1.`)
	return b.String()
}

// Found is what is to be imported, and the machine; nil when nobody says.
type Found struct {
	imported.Found
	SUT *probes.SUT
}

// Read reads the files of a tool for the first time.
func Read(path string, o Options) (Found, error) {
	sut, err := readSUT(o.SUT)
	if err != nil {
		return Found{}, err
	}
	src, err := imported.Open(path)
	if err != nil {
		return Found{}, err
	}
	format, own, err := imported.Find(src, o.As)
	if err != nil {
		return Found{}, err
	}
	found, err := imported.Survey(format, own)
	return Found{found, sut}, err
}

// maxSUT bounds the bytes of a machine's document.
const maxSUT = 64 << 20

// readSUT reads what `assay probe --json --out` wrote.
func readSUT(name string) (*probes.SUT, error) {
	if name == "" {
		return nil, nil
	}
	const hint = "give the file that `assay probe --json --out FILE` wrote on that machine"
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, fault.New(fault.Plan, "sut_unreadable", hint, "cannot read the machine: %s is no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.New(fault.Plan, "sut_unreadable", hint, "cannot read the machine: %w", err)
	}
	defer f.Close()
	var sut probes.SUT
	err = json.NewDecoder(io.LimitReader(f, maxSUT)).Decode(&sut)
	if err == nil && sut.Schema != probes.SchemaSUT {
		err = errors.New("its schema is not " + probes.SchemaSUT)
	}
	if err != nil {
		return nil, fault.New(fault.Plan, "sut_unreadable", hint, "%s is no machine's document: %w", name, err)
	}
	probes.Legible(&sut)
	return &sut, nil
}

// Contradictions are where figures that the tool printed are not those of its own requests, for a person who sees nothing but the verdict.
func Contradictions(r result.Result) []string {
	var out []string
	for _, p := range r.Points {
		for _, reason := range p.Reasons {
			if reason.Code == "figures_differ" {
				out = append(out, p.ID+": "+reason.Text+" ("+reason.Code+"): "+reason.Evidence)
			}
		}
	}
	return out
}
