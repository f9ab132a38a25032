package agent

import (
	"crypto/ed25519"
	"log/slog"
	"time"

	"assay/agent/allow"
	"assay/containers"
	"assay/probes"
	"assay/store"
)

// Config is what an agent works with; cmd/assay fills it.
type Config struct {
	Store      *store.Store
	Host       probes.Host
	Program    probes.Program
	Owner      string                   // mark of this data directory on everything started (see Owner)
	Executable string                   // this program's file, for presets that start it again
	Token      func(name string) string // reads a variable of this program that a plan names in token_env or env_from
	Docker     containers.DockerPlace   // where the container engine listens
	Key        ed25519.PrivateKey       // signs archives; nil leaves them out
	Log        *slog.Logger
	Now        func() time.Time
	Hurry      <-chan struct{} // closed when who stops the program does not wait for servers to end by themselves; nil: never
	KeepRuns   int             // ended runs kept; 0 keeps all

	MemoryLimit time.Duration // how long accelerators' memory is waited for after a run; 0 is node.AfterRun

	Allow  *allow.List   // what plans from the network may have; nil: the default
	Closed []allow.Place // that no plan from the network may name, beside the data directory and the engine's socket
}

// nowUS is the wall clock in UTC microseconds.
func (c Config) nowUS() int64 { return c.Now().UnixMicro() }
