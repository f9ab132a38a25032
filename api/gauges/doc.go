// Package gauges is the room of the API that turns what is known of the machine into Prometheus metrics: facts and checks of the last
// probe, and what is sampled while a run is under way. The number of series is bounded by the machine's parts; what is not known has none.
package gauges
