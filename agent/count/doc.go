// Package count holds an engine's own counters against what the client recorded.
package count
