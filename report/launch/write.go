package launch

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/fault"
	"assay/report/machine"
	"assay/report/plain"
)

// Known are those of which more is known than a command line.
func (s Section) Known() []Started {
	return slices.DeleteFunc(slices.Clone(s.Started), func(one Started) bool { return len(one.Lines)+len(one.Differs) == 0 })
}

// Commands are those of what was started that have a command line.
func (s Section) Commands() []Started {
	return slices.DeleteFunc(slices.Clone(s.Started), func(one Started) bool { return one.Command == "" })
}

// Script is all commands, each under what it starts. All but the last are started in the background, so that a shell goes on.
func (s Section) Script() string {
	var b strings.Builder
	commands := s.Commands()
	for n, one := range commands {
		command := one.Command
		if n < len(commands)-1 {
			command = one.Beside
		}
		fmt.Fprintf(&b, "# %s\n%s\n", fault.Printable(one.Label()), command)
	}
	return b.String()
}

// WriteText writes the section for a terminal.
func (s Section) WriteText(w io.Writer) {
	for _, one := range s.Known() {
		fmt.Fprintf(w, "\n%s\n", strings.ToUpper(one.Name))
		for _, l := range one.Lines {
			machine.WriteField(w, l.Label, l.Value)
		}
		for _, d := range one.Differs {
			machine.WriteField(w, "Differs", d)
		}
	}
	for _, t := range s.Tables {
		t.Write(w)
	}
	for _, n := range s.Notes {
		fmt.Fprint(w, machine.Fold("  note: "+n, "    "))
	}
	if c := s.Script(); c != "" {
		fmt.Fprintf(w, "\nCOMMANDS\n%s", c)
	}
}

// WriteMarkdown writes the section for an issue or a wiki.
func (s Section) WriteMarkdown(w io.Writer) {
	for _, one := range s.Known() {
		fmt.Fprintf(w, "\n## %s\n\n| | |\n|---|---|\n", plain.Quoted(one.Name))
		for _, l := range one.Lines {
			fmt.Fprintf(w, "| %s | %s |\n", plain.Quoted(l.Label), plain.Quoted(l.Value))
		}
		for _, d := range one.Differs {
			fmt.Fprintf(w, "| Differs | %s |\n", plain.Quoted(d))
		}
	}
	for _, t := range s.Tables {
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", t.Name, plain.Quoted(t.Note))
		plain.Markdown(w, t.Grid.Lines(), "--:")
	}
	for i, n := range s.Notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "- %s\n", plain.Quoted(n))
	}
	if c := s.Script(); c != "" {
		fence := "```"
		for strings.Contains(c, fence) {
			fence += "`"
		}
		fmt.Fprintf(w, "\n## Commands\n\n%ssh\n%s%s\n", fence, c, fence)
	}
}
