package point

import (
	"testing"

	"assay/plan"
)

func TestArrivals(t *testing.T) {
	for protocol, want := range map[string]string{
		"sweep: {concurrency: 2, duration: 5s}":                                                                          "",
		"serve: {rate: 2, duration: 5s}":                                                                                 "poisson",
		"serve: {rate: 2, duration: 5s, arrival: constant, ramp: {from: 0.5, over: 3s}}":                                 "constant gaps, linear ramp from 0.5/s over 3s",
		"serve: {rate: 2, duration: 5s, arrival: gamma}":                                                                 "gamma of shape 1",
		"serve: {rate: 2, duration: 5s, arrival: gamma, burstiness: 0.5, ramp: {from: 1, over: 2m, shape: exponential}}": "gamma of shape 0.5, exponential ramp from 1/s over 2m",
	} {
		p, err := plan.Parse([]byte("apiVersion: assay/v1\nname: p\nmodel: {name: m}\nserver: {url: \"http://localhost:1\"}\nprotocol: {" + protocol + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := Arrivals(p); got != want {
			t.Errorf("%s: %q, want %q", protocol, got, want)
		}
	}
	trace := plan.Plan{Protocol: plan.Protocol{Serve: &plan.Serve{Arrival: "trace"}}}
	if got := Arrivals(trace); got != "as recorded" {
		t.Errorf("a trace: %q", got)
	}
}
