package gauges

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"assay/result"
	"assay/store"
)

const (
	nodeState = "assay_node_state"
	nodeHelp  = "Whether the machine takes runs: 1 for the state it is in."
)

// Node is whether the machine takes runs.
type Node struct {
	Store *store.Store
	Ctx   context.Context // of the one scrape it lives for
}

// Describe is part of prometheus.Collector.
func (n Node) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(n, out) }

// Collect is part of prometheus.Collector. There is a series for each state, 1 for the one that the machine is in.
func (n Node) Collect(out chan<- prometheus.Metric) {
	now, err := n.Store.Node(n.Ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(prometheus.NewDesc(nodeState, nodeHelp, []string{"state"}, nil), err)
		return
	}
	s := newSink(out)
	for _, state := range []result.NodeState{result.NodeReady, result.NodeDirty, result.NodeUnfit} {
		is := 0.0
		if now.State == state {
			is = 1
		}
		s.add(nodeState, nodeHelp, is, "state", string(state))
	}
	s.add("assay_node_devices", "Accelerators that the machine is known to have.", float64(len(now.Devices)))
}
