package main

import (
	"strings"
	"testing"
)

// TestFlagErrors: what is wrong with a flag's value is said in words of the command line.
func TestFlagErrors(t *testing.T) {
	p := newProgram(t)
	for args, want := range map[string]string{
		"bench http://h --seed -1":               "write a whole number of at least 0",
		"bench http://h --rate x":                "write a rate above 0",
		"bench-client --rate x":                  `--rate "x": write numbers such as 50,0.5`,
		"bench-client --streams 1,x":             `--streams "1,x": write whole numbers such as 1,512`,
		"bench-client --duration soon":           `--duration "soon": write a time such as`,
		"sim --seed -1":                          `--seed "-1": write a whole number of at least 0`,
		"sim --port x":                           `--port "x": write a whole number`,
		"sim --acceptance much":                  `--acceptance "much": write a number`,
		"sim --no-prefix-cache=x":                `--no-prefix-cache "x": write true or false`,
		"bench http://h --save-plan /nonexist/x": "choose a folder that is there",
		"bench http://h --save-plan /dev/null":   "choose a name that is not there yet",
	} {
		r := p.must(exitUsage, strings.Fields(args)...)
		if !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "strconv") || strings.Contains(r.stderr, "time:") {
			t.Errorf("%s: %s", args, r.stderr)
		}
	}
}
