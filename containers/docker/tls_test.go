package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/containers/imagetest"
	"assay/containers/port"
	"assay/containers/socket"
	"assay/fault"
)

// authority signs certificates of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	var a authority
	a.cert, a.key = a.sign(t, t.TempDir(), "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign makes a certificate, which without an authority signs itself, and writes it and its key as docker's command line names them.
func (a authority) sign(t *testing.T, dir, name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.Subject, c.NotAfter = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}, time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(dir, name+".pem"), "CERTIFICATE", der)
	writePEM(t, filepath.Join(dir, strings.Replace(name, "cert", "", 1)+"key.pem"), "EC PRIVATE KEY", private)
	if a.cert != nil {
		writePEM(t, filepath.Join(dir, "ca.pem"), "CERTIFICATE", a.cert.Raw)
	}
	return cert, key
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clientFolder is a DOCKER_CERT_PATH.
func (a authority) clientFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a.sign(t, dir, "cert", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return dir
}

// TestEngineOverTLS asks a real engine over TCP with certificates on both sides.
func TestEngineOverTLS(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	ours.sign(t, dir, "servercert", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	ports, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("tcp://127.0.0.1:%d", ports[0])
	imagetest.Engine(t, 0, "--host", address, "--tlsverify", "--tlscacert", filepath.Join(dir, "ca.pem"),
		"--tlscert", filepath.Join(dir, "servercert.pem"), "--tlskey", filepath.Join(dir, "serverkey.pem"))
	for _, c := range []struct{ name, certificates, code string }{
		{"ours", ours.clientFolder(t), ""},
		{"none", "", "server.docker_unreachable"},
		{"another authority's", others.clientFolder(t), "server.docker_unreachable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("DOCKER_CERT_PATH", c.certificates)
			t.Setenv("DOCKER_TLS_VERIFY", "1")
			d := Runtime{At: socket.Find(socket.Search{Dial: socket.Listens, Env: func(name string) string { return map[string]string{"DOCKER_HOST": address}[name] }})}
			engine, err := d.connect(t.Context())
			if c.code != "" {
				if f := fault.Of(err, fault.Plan); f == nil || f.Code != c.code || !strings.Contains(f.Hint, "DOCKER_CERT_PATH") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
