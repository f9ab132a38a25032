// Package agent runs plans: the executor of one run (phases with undo), and the daemon around it (queue, schedules, recovery,
// retention). It owns every goroutine it starts. agent and api never import each other; cmd/assay wires them.
package agent
