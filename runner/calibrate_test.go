package runner

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/dataset"
	"assay/runner/length"
)

// hanging is a server that answers nothing.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestCalibrateTellsWhatIsAsked: while a server is silent about its tokens a person sees what it was asked, and that time passes.
func TestCalibrateTellsWhatIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Second)
		defer stop()
		var seen []string
		cfg := length.Config{Server: length.Server{Client: &http.Client{Transport: hanging{}}, URL: "http://server"}, Salt: "run",
			Ask: func(ctx context.Context, _ dataset.Turn, _ string) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}}
		if _, err := findRule(ctx, cfg, func(p Progress) {
			seen = append(seen, fmt.Sprintf("%s %.0f %s", p.Stage, p.Elapsed.Seconds(), p.Asking))
		}); err == nil {
			t.Error("a server that says nothing gave a rule")
		}
		for _, want := range []string{"calibrate 30 its tokenizer, POST /tokenize", "calibrate 90 its usage of requests of one token"} {
			if !strings.Contains(strings.Join(seen, "\n")+"\n", want+"\n") {
				t.Errorf("it does not tell %q:\n%s", want, strings.Join(seen, "\n"))
			}
		}
	})
}
