package stop

import (
	"fmt"

	"assay/containers"
	"assay/fault"
	"assay/result"
)

// Asked is who asked something to stop, and when, UTC µs.
type Asked struct {
	By   string // result.AskedAtEnd, …
	AtUS int64
}

// Evidence is how an instance ended, for each of its members when it is several. err is why it could not be stopped. What somebody else
// runs was not stopped and has none.
func Evidence(id containers.Identity, e containers.Exit, asked Asked, err error) []result.Stop {
	if id.Runtime == "endpoint" {
		return nil
	}
	if len(e.Members) == 0 {
		return []result.Stop{evidence(id, e, asked, err)}
	}
	var list []result.Stop
	for _, m := range e.Members {
		var stuck error
		if m.Reason == "" { // nobody saw it end
			stuck = err
		}
		list = append(list, evidence(id, m, asked, stuck))
	}
	return list
}

func evidence(id containers.Identity, e containers.Exit, asked Asked, err error) result.Stop {
	s := result.Stop{Role: id.Role, Name: id.Name, How: how(e, err), TookS: float64(e.Took.Milliseconds()) / 1000, Signal: e.Signal, OOMKilled: e.OOM, Restarts: e.Restarts,
		Text: e.Reason, Engine: e.Error, Error: fault.Of(err, layerOf(id.Role))}
	if e.Name != "" {
		s.Name = e.Name
	}
	if s.How != result.StopByItself {
		s.AskedBy, s.AskedUS = asked.By, asked.AtUS
	}
	if code := e.Code; code >= 0 && s.How != result.StopStuck {
		s.ExitCode = &code
	}
	return s
}

func how(e containers.Exit, err error) string {
	switch {
	case err != nil && (e.Reason == "" || e.Away != nil): // nobody saw it end
		return result.StopStuck
	case e.Killed:
		return result.StopKilled
	case e.Asked:
		return result.StopGraceful
	}
	return result.StopByItself
}

func layerOf(role string) fault.Layer {
	if role == "router" {
		return fault.Router
	}
	return fault.Server
}

// Text is one line for people: "server assay-… was killed after its grace, 30.1 s after it was asked: was killed by signal 9".
func Text(s result.Stop) string {
	head := s.Role + " " + s.Name
	switch s.How {
	case result.StopByItself:
		return fmt.Sprintf("%s ended by itself: %s", head, s.Text)
	case result.StopStuck:
		if s.Error != nil && s.Error.Code == string(s.Error.Layer)+".docker_unreachable" {
			return head + " could not be stopped: its container engine does not answer"
		}
		return fmt.Sprintf("%s does not end even when killed", head)
	case result.StopKilled:
		return fmt.Sprintf("%s was killed, %.1f s after it was asked: %s", head, s.TookS, s.Text)
	}
	return fmt.Sprintf("%s ended %.1f s after it was asked: %s", head, s.TookS, s.Text)
}
