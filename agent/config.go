package agent

import (
	"crypto/ed25519"
	"log/slog"
	"time"

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
	Key        ed25519.PrivateKey       // signs archives; nil leaves them out
	Log        *slog.Logger
	Now        func() time.Time
	KeepRuns   int // ended runs kept; 0 keeps all
}

// nowUS is the wall clock in UTC microseconds.
func (c Config) nowUS() int64 { return c.Now().UnixMicro() }
