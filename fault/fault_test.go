package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"
)

func TestNew(t *testing.T) {
	f := New(Image, "not_found", "check the digest", "image %s not found: %w", "a@sha256:00", io.EOF)
	if f.Layer != Image || f.Code != "image.not_found" || f.Hint != "check the digest" {
		t.Errorf("fault %+v", f)
	}
	if want := "image a@sha256:00 not found: EOF"; f.Text != want {
		t.Errorf("text %q, want %q", f.Text, want)
	}
	if want := "image a@sha256:00 not found: EOF (image.not_found)"; f.Error() != want {
		t.Errorf("error %q, want %q", f.Error(), want)
	}
}

func TestCauses(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		causes []error
	}{
		{"none", New(Store, "x", "", "plain"), nil},
		{"one", New(Store, "x", "", "a: %w", io.EOF), []error{io.EOF}},
		{"several", New(Store, "x", "", "a: %w, b: %w", io.EOF, fs.ErrNotExist), []error{io.EOF, fs.ErrNotExist}},
		{"wrapped once more", New(Plan, "y", "", "c: %w", New(Store, "x", "", "a: %w", io.EOF)), []error{io.EOF}},
	}
	for _, tt := range tests {
		for _, cause := range []error{io.EOF, fs.ErrNotExist} {
			want := false
			for _, c := range tt.causes {
				want = want || c == cause
			}
			if got := errors.Is(tt.err, cause); got != want {
				t.Errorf("%s: errors.Is(%v) = %v", tt.name, cause, got)
			}
		}
	}
}

func TestOf(t *testing.T) {
	inner := New(Image, "not_found", "h", "no image")
	outer := New(Server, "start", "", "start: %w", inner)
	tests := []struct {
		name string
		err  error
		want *Fault
	}{
		{"itself", inner, inner},
		{"wrapped", fmt.Errorf("run: %w", inner), inner},
		{"joined", errors.Join(io.EOF, inner), inner},
		{"outermost", fmt.Errorf("run: %w", outer), outer},
	}
	for _, tt := range tests {
		if got := Of(tt.err, Store); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if Of(nil, Store) != nil {
		t.Error("no error became a fault")
	}
	plain := Of(fmt.Errorf("read: %w", io.EOF), Telemetry)
	if plain.Layer != Telemetry || plain.Code != "telemetry.failed" || plain.Text != "read: EOF" || !errors.Is(plain, io.EOF) {
		t.Errorf("a plain error became %+v", plain)
	}
}

// Scripts read these keys.
func TestJSON(t *testing.T) {
	tests := []struct {
		fault *Fault
		want  string
	}{
		{New(Router, "exited", "see its log", "ended: %w", io.EOF), `{"layer":"router","code":"router.exited","text":"ended: EOF","hint":"see its log"}`},
		{New(Plan, "bad", "", "bad"), `{"layer":"plan","code":"plan.bad","text":"bad"}`},
	}
	for _, tt := range tests {
		b, err := json.Marshal(tt.fault)
		if err != nil || string(b) != tt.want {
			t.Errorf("%s, %v; want %s", b, err, tt.want)
		}
	}
}

func TestLayersAreThoseOfTheContract(t *testing.T) {
	want := "plan preflight image server router client telemetry store archive"
	got := fmt.Sprintln(Plan, Preflight, Image, Server, Router, Client, Telemetry, Store, Archive)
	if got != want+"\n" {
		t.Errorf("layers %s", got)
	}
}
