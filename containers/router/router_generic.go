package router

import (
	"strconv"
	"strings"
)

// aDay in seconds is longer than any request.
const aDay = 24 * 60 * 60

// generic is any router that is told its port and its servers by arguments.
func generic() Kind {
	return Kind{Name: "generic", Args: genericArgs, Files: externalFiles}
}

// genericArgs fill in what the arguments of the plan leave open. {upstreams} as an argument of its own becomes one for each server, inside
// another one they are joined by commas.
func genericArgs(s Setup) ([]string, error) {
	fill := strings.NewReplacer("{host}", s.Host, "{port}", strconv.Itoa(s.Port), "{session_header}", s.Session, "{upstreams}", strings.Join(s.urls(), ","))
	var out []string
	for _, a := range s.Args {
		if a == "{upstreams}" {
			out = append(out, s.urls()...)
			continue
		}
		out = append(out, fill.Replace(a))
	}
	return out, nil
}

// externalFiles is what a router of which nothing else is known needs: two connections for each request, and what it has open itself.
func externalFiles(s Setup) int { return 2*s.room() + 256 }
