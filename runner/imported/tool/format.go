package tool

import (
	"slices"
	"strings"

	"assay/fault"
	"assay/runner/imported/files"
)

// Format is how one tool writes its results.
type Format struct {
	Name  string                 // what --as takes
	Tool  string                 // name of the program
	Looks func(head string) bool // whether a file that begins so is one of its
	Poor  bool                   // what it reads is no more than a better file beside it tells
	Read  func(files.Source, Emit) (Report, error)
}

// Formats lists every tool whose results can be read.
func Formats() []Format {
	return []Format{
		mlperf(),
		vllm(),
		aiperf(),
		guidellm(),
		inferencePerf(),
		inferenceBench(),
		vllmLog(),
	}
}

// Names lists the formats by name.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// named finds a format by what --as says.
func named(name string) (Format, error) {
	i := slices.IndexFunc(Formats(), func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, fault.New(fault.Plan, "import_format", "use one of: "+strings.Join(Names(), ", "), "there is no format %q to import", name)
	}
	return Formats()[i], nil
}

// Find says which tool wrote the source, by what its files hold, or takes the named format. Files that no tool wrote are left out.
func Find(src files.Source, as string) (Format, files.Source, error) {
	formats := Formats()
	if as != "" {
		f, err := named(as)
		if err != nil {
			return f, src, err
		}
		formats = []Format{f}
	}
	var known []Format
	var theirs []files.Source
	for _, f := range formats {
		own, err := src.Looking(f.Looks)
		if err != nil {
			return f, src, err
		}
		if len(own.Files) > 0 && (!f.Poor || as != "" || len(known) == 0) {
			known, theirs = append(known, f), append(theirs, own)
		}
	}
	if len(known) == 1 {
		return known[0], theirs[0], nil
	}
	if len(known) > 1 {
		return Format{}, src, fault.New(fault.Plan, "import_ambiguous", "say which to import with --as "+known[0].Name+" or --as "+known[1].Name,
			"%s holds results of several tools: %s and %s", src.Given, known[0].Tool, known[1].Tool)
	}
	if as != "" {
		return formats[0], src, fault.New(fault.Plan, "import_format", "leave --as out to let the content say which tool wrote it",
			"%s holds nothing that %s writes", src.Given, formats[0].Tool)
	}
	return Format{}, src, fault.New(fault.Plan, "import_format", "what can be read: "+strings.Join(Names(), ", ")+"; unpack what is compressed, give the file or folder as the tool wrote it",
		"%s is no result of a tool that is known", src.Given)
}
