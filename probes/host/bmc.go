package host

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"
)

// RedfishRoot is where a BMC's answers begin, on its server and in a capture.
const RedfishRoot = "/redfish/v1"

const maxBMCBytes = 4 << 20

// AskBMC asks the BMC at an address for a resource. A capture keeps the answer as a file, by the resource's path.
func (h Host) AskBMC(ctx context.Context, address, resource string) ([]byte, error) {
	if h.BMC == nil {
		return nil, fmt.Errorf("an answer of the BMC %w", errNotAsked)
	}
	resource, _, _ = strings.Cut(path.Clean("/"+resource), "#")
	if resource != RedfishRoot && !strings.HasPrefix(resource, RedfishRoot+"/") {
		return nil, fmt.Errorf("%q is no resource of Redfish", resource)
	}
	body, err := h.BMC(ctx, "https://"+address+resource)
	if err != nil {
		return nil, err
	}
	h.record.file(resource+"/index.json", body)
	return body, nil
}

// BMCAnswers gives the answers that a capture holds, by their path; the error is why the BMC told nothing.
func (h Host) BMCAnswers() (map[string][]byte, error) {
	answers := map[string][]byte{}
	if why, ok := h.failed[RedfishRoot]; ok {
		return nil, h.NoBMC("%s", why)
	}
	h.collect(RedfishRoot, 0, answers)
	if len(answers) > 0 {
		return answers, nil
	}
	_, err := h.Read(RedfishRoot)
	return nil, err
}

// collect reads the files below a folder. An answer lies in the folder of its path, as index.json, or has its path for a name.
func (h Host) collect(dir string, depth int, into map[string][]byte) {
	names, err := h.List(dir)
	if err != nil || depth > 8 {
		return
	}
	for _, name := range names {
		file := dir + "/" + name
		b, err := h.Read(file)
		if err != nil {
			h.collect(file, depth+1, into)
			continue
		}
		resource := strings.TrimSuffix(file, ".json")
		if name == "index.json" {
			resource = dir
		}
		into[resource] = b
	}
}

// NoBMC is why a BMC told nothing, as an error that a capture gives again.
func (h Host) NoBMC(format string, args ...any) error {
	e := &readError{path: RedfishRoot, why: fmt.Sprintf(format, args...)}
	h.record.fail(e.path, e.why)
	return e
}

// askBMCLive is a GET of a BMC, whose certificate nobody signed. No password is sent, nothing is followed to another place.
func askBMCLive(ctx context.Context, url string) ([]byte, error) {
	client := http.Client{
		Timeout:       3 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // BMCs sign their own
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask the BMC: %w", err)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("does not answer") // the error would name its address
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		return io.ReadAll(io.LimitReader(res.Body, maxBMCBytes))
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("wants an account, and none is given (HTTP %d)", res.StatusCode)
	}
	return nil, fmt.Errorf("answers HTTP %d", res.StatusCode)
}
