package engines

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/probes/host"
	"assay/probes/sut"
)

// toolLimit bounds the questions to all tools together.
const toolLimit = 2 * time.Second

// Probe asks the container engines and their tools for their versions, and the Docker engine how it is set up.
func Probe(ctx context.Context, h host.Host, s *sut.SUT) error {
	w := &s.Software
	w.Docker, w.Containerd, w.Runc = readDocker(ctx, h)
	w.Engine = readInfo(ctx, h)
	w.CDI = readCDI(h)
	type tool struct {
		argv []string
		into *sut.Fact[string]
	}
	all := []tool{
		{[]string{"nvidia-ctk", "--version"}, &w.ContainerToolkit}, {[]string{"amd-ctk", "--version"}, &w.AMDContainerToolkit}, {[]string{"podman", "--version"}, &w.Podman},
		{[]string{"containerd", "--version"}, &w.Containerd}, {[]string{"runc", "--version"}, &w.Runc},
	}
	// What the engine says of itself runs; the tool is only what is installed.
	tools := slices.DeleteFunc(all, func(t tool) bool { return t.into.IsKnown() })
	var commands [][]string
	for _, t := range tools {
		commands = append(commands, t.argv)
	}
	for i, answer := range h.RunSeveral(ctx, toolLimit, commands...) {
		t := tools[i]
		*t.into = installed(answer, strings.Join(t.argv, " "), t.into.Unknown)
	}
	return nil
}

// installed is the version that a tool prints. before is why the engine did not tell it.
func installed(a host.Answer, command, before string) sut.Fact[string] {
	why := fmt.Sprintf("%s prints no version", command)
	if a.Err != nil {
		why = a.Err.Error()
	} else if v := parseVersion(string(a.Stdout)); v != "" {
		return sut.Known(v, command)
	}
	if before != "" {
		why = before + "; " + why
	}
	return sut.Unknown[string]("%s", why)
}

// parseVersion finds the version in what a tool prints of itself: "runc version 1.2.5", "containerd github.com/… v2.2.1 dea7da59".
func parseVersion(text string) string {
	return strings.TrimRight(regexp.MustCompile(`\bv?\d+\.\d+[\w.+~:-]*`).FindString(text), ".:-")
}
