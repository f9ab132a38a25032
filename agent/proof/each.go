package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/containers"
	"assay/probes"
)

// rule holds a server against its plan; it applies where the plan or the server says something of it.
type rule func(Request) (found probes.Check, applies bool)

// serversOf are the servers of an identity: those of several, else the one.
func serversOf(id containers.Identity) []containers.Identity {
	if len(id.Servers) == 0 {
		return []containers.Identity{id}
	}
	return id.Servers
}

// ofEach makes a rule of one server into one of several: the worst that was found of any counts, and names whose it is.
func ofEach(of rule) rule {
	return func(r Request) (probes.Check, bool) {
		servers := serversOf(r.Server)
		if len(servers) == 1 {
			return of(r)
		}
		var each []verdict
		some := false
		for _, s := range servers {
			r.Server = s
			check, applies := of(r)
			each, some = append(each, verdict{cmp.Or(s.Role, s.Name), check}), some || applies
		}
		return merged(each), some
	}
}

// verdict is a check of one of several servers.
type verdict struct {
	server string
	check  probes.Check
}

// merged makes one check of those of several servers.
func merged(each []verdict) probes.Check {
	worst := slices.MaxFunc(each, func(a, b verdict) int { return cmp.Compare(badness(a.check.State), badness(b.check.State)) }).check
	var texts, evidence []string
	alike := true
	for _, v := range each {
		alike = alike && v.check.Text == worst.Text && slices.Equal(v.check.Evidence, worst.Evidence)
		if v.check.State != worst.State {
			continue
		}
		texts = append(texts, v.server+": "+v.check.Text)
		for _, e := range v.check.Evidence {
			evidence = append(evidence, v.server+": "+e)
		}
	}
	if alike {
		worst.Text = fmt.Sprintf("each of %d servers: %s", len(each), worst.Text)
		return worst
	}
	worst.Text, worst.Evidence = strings.Join(texts, "; "), evidence
	return worst
}

func badness(s probes.CheckState) int {
	return slices.Index([]probes.CheckState{probes.CheckOK, probes.CheckUnknown, probes.CheckWarn, probes.CheckFail}, s)
}
