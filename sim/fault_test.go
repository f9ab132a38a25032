package sim

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFaultsOverTCP sends a request over a real connection for each fault of a stream.
func TestFaultsOverTCP(t *testing.T) {
	for _, tc := range []struct {
		fault      string
		tokens     int // words that arrive
		done, torn bool
		finish     string
	}{
		{"error_frame@3", 3, true, false, ""},
		{"error_frame@0", 0, true, false, ""},
		{"cut@2", 2, false, true, ""},
		{"truncate@2", 2, false, false, ""},
		{"truncate@6", 6, false, false, "length"},
		{"abort@4", 4, true, false, "abort"},
		{"stall@2:1ms", 6, true, false, "length"},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			f, err := ParseFault(tc.fault)
			if err != nil {
				t.Fatal(err)
			}
			s := New(Config{ChunkTokens: 5, Faults: []Fault{f}})
			server := httptest.NewServer(s.Handler())
			defer server.Close()
			resp, err := server.Client().Post(server.URL+"/v1/completions", "application/json", strings.NewReader(ask("a b", 6)))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			raw, err := io.ReadAll(resp.Body)
			if torn := errors.Is(err, io.ErrUnexpectedEOF); torn != tc.torn {
				t.Errorf("read: %v", err)
			}
			list, done := events(t, strings.NewReader(string(raw)))
			said, finish := text(list)
			if n := len(strings.Fields(said)); n != tc.tokens || done != tc.done || finish != tc.finish {
				t.Errorf("%d words, done %v, finish %q\n%s", n, done, finish, raw)
			}
			if f.Kind == ErrorFrame && list[len(list)-1].Error == nil {
				t.Errorf("no error in %s", raw)
			}
		})
	}
}

func TestStallLastsAsLongAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := stepped()
		cfg.Faults = []Fault{{Kind: Stall, AtToken: 1, Delay: time.Second}}
		s := New(cfg)
		post(t, s, "/v1/completions", ask("a", 3))
		if diff := cmp.Diff([]int64{11, 10 + 1000, 0}, gaps(s.Truth()[0])); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRejectTellsWhenToComeBack(t *testing.T) {
	s := New(Config{Faults: []Fault{{Kind: Reject, First: 2, Delay: 1500 * time.Millisecond}}})
	var got []int
	for range 3 {
		w := post(t, s, "/v1/completions", ask("a", 1))
		got = append(got, w.Code)
		if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "2" {
			t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
		}
	}
	if diff := cmp.Diff([]int{429, 429, 200}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseFault(t *testing.T) {
	for s, want := range map[string]Fault{
		"cut@5":          {Kind: Cut, AtToken: 5},
		"stall@3:2s/10":  {Kind: Stall, AtToken: 3, Delay: 2 * time.Second, Every: 10},
		"reject:1s#4":    {Kind: Reject, Delay: time.Second, First: 4},
		"error_frame":    {Kind: ErrorFrame},
		"truncate/2@1#8": {Kind: Truncate, AtToken: 1, Every: 2, First: 8},
	} {
		got, err := ParseFault(s)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", s, err, diff)
		}
	}
	for _, s := range []string{"", "fire", "cut@x", "cut@-1", "stall@3", "cut@", "reject:soon"} {
		if _, err := ParseFault(s); err == nil {
			t.Errorf("%q was accepted", s)
		} else if strings.Contains(err.Error(), "strconv") || strings.Contains(err.Error(), "time: ") {
			t.Errorf("%q is refused in the words of a library: %v", s, err)
		}
	}
}

func TestFaultHits(t *testing.T) {
	f := Fault{Every: 3, First: 7}
	var hit []int
	for n := range 12 {
		if f.hits(n) {
			hit = append(hit, n)
		}
	}
	if diff := cmp.Diff([]int{2, 5}, hit); diff != "" {
		t.Error(diff)
	}
}
