package image

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
)

const password = "correct-horse-battery"

// guarded makes a registry ask for the user's name and password.
func (r *testRegistry) guarded() {
	r.failing(func(w http.ResponseWriter, req *http.Request) bool {
		user, pass, _ := req.BasicAuth()
		if user == "me" && pass == password {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
		return true
	})
}

// configured writes a configuration of docker and makes it the user's.
func configured(t *testing.T, config map[string]any) {
	t.Helper()
	dir := t.TempDir()
	b, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", dir)
}

// helper puts a credential helper on the path: a program that is asked on standard input and answers on standard output.
func helper(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker-credential-lab"), []byte("#!/bin/sh\nread host\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// A private registry is reached with what the user's docker knows, by our questions and by the engine.
func TestCredentials(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(t, "lab/engine", made(t, runtime.GOARCH, 1, 1000))
	r.guarded()
	good := fmt.Sprintf(`echo '{"ServerURL":"'$host'","Username":"me","Secret":%q}'`, password)
	for _, c := range []struct {
		name   string
		config map[string]any
		helper string
		code   string
	}{
		{"none", map[string]any{}, "", "image.unauthorized"},
		{"in the file", map[string]any{"auths": map[string]any{r.host: map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("me:" + password))}}}, "", ""},
		{"wrong ones in the file", map[string]any{"auths": map[string]any{r.host: map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("me:other-" + password))}}}, "", "image.unauthorized"},
		{"by a helper of the registry", map[string]any{"credHelpers": map[string]string{r.host: "lab"}}, good, ""},
		{"by a helper of all", map[string]any{"credsStore": "lab"}, good, ""},
		{"by a helper that knows none", map[string]any{"credsStore": "lab"}, `echo "credentials not found in native keychain"; exit 1`, "image.unauthorized"},
		{"by a helper that fails", map[string]any{"credHelpers": map[string]string{r.host: "lab"}}, `echo "token expired: log in again"; exit 1`, "image.credentials_unreadable"},
		{"by a helper that is not there", map[string]any{"credHelpers": map[string]string{r.host: "none"}}, "", "image.credentials_unreadable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			configured(t, c.config)
			if c.helper != "" {
				helper(t, c.helper)
			}
			_, err := ResolveDigest(t.Context(), ref)
			check(t, err, c.code)
			t.Run("engine", func(t *testing.T) {
				imagetest.NeedDocker(t)
				i, told, err := ready(t, imagetest.Socket(), Wanted{Image: ref})
				check(t, err, c.code)
				if b, _ := json.Marshal([]any{i, told}); strings.Contains(string(b), password) {
					t.Errorf("the password is told: %s", b)
				}
				if err == nil {
					mustRun(t, imagetest.Socket(), "image", "rm", "--force", i.ID)
				}
			})
		})
	}
}

func check(t *testing.T, err error, code string) {
	t.Helper()
	if code != "" {
		enginetest.WantFault(t, err, code)
	} else if err != nil {
		t.Error(err)
	}
	if err != nil && strings.Contains(err.Error(), password) {
		t.Errorf("the password is told: %v", err)
	}
}

// An engine that repeats what it was given does not make us repeat it.
func TestCredentialsAreHidden(t *testing.T) {
	configured(t, map[string]any{"auths": map[string]any{"127.0.0.1:1": map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("me:" + password))}}})
	socket := enginetest.Socket(t, refusingEngine(500, "login me:"+password+" refused"))
	_, err := prepare(t.Context(), connected(t, socket), Wanted{Image: "127.0.0.1:1/lab/engine@" + digest}, quick(), func(p Progress) {
		if strings.Contains(p.Status, password) {
			t.Errorf("told: %+v", p)
		}
	})
	check(t, err, "image.pull_failed")
}
