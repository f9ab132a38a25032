package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/sim"
)

// TestOverTLS: a certificate is good when a root of SSL_CERT_FILE signed it, and refused by name when none did; a proxy is never asked.
func TestOverTLS(t *testing.T) {
	srv := httptest.NewTLSServer(sim.New(sim.Default()).Handler())
	t.Cleanup(srv.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	p := newProgram(t)
	bench := []string{"bench", srv.URL, "--engine", "sim", "--concurrency", "1", "--requests", "3", "--output-len", "8", "--ready-timeout", "1m", "--no-archive"}
	if r := p.must(exitInfra, bench...); !strings.Contains(r.stdout+r.stderr, "certificate") {
		t.Errorf("it does not say why:\n%s%s", r.stdout, r.stderr)
	}
	t.Setenv("SSL_CERT_FILE", roots)
	r := p.must(exitValid, append(bench, "--json")...).result(t)
	if source := r.Points[0].Client.StampSource; source != "user" {
		t.Errorf("stamps over TLS are the %s's", source)
	}
}
