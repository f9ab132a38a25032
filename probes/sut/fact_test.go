package sut

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func TestFactForms(t *testing.T) {
	for want, f := range map[string]Fact[int]{
		`{"value":0,"source":"x"}`: Known(0, "x"),
		`{"unknown":"no 7"}`:       Unknown[int]("no %d", 7),
		`{"na":"none"}`:            NA[int]("none"),
		`{"unknown":"not probed"}`: {},
	} {
		b, err := json.Marshal(f)
		if err != nil || string(b) != want {
			t.Errorf("%s %v, not %s", b, err, want)
		}
		var back Fact[int]
		if err := json.Unmarshal(b, &back); err != nil || back.IsKnown() != f.IsKnown() || back.Value != f.Value {
			t.Errorf("%s is read as %+v, %v", b, back, err)
		}
	}
	for want, l := range map[string]List[string]{`[]`: {}, `["a"]`: {Items: []string{"a"}}, `{"unknown":"why"}`: {Unknown: "why"}} {
		b, err := json.Marshal(l)
		if err != nil || string(b) != want {
			t.Errorf("%s %v, not %s", b, err, want)
		}
		var back List[string]
		if err := json.Unmarshal(b, &back); err != nil || back.Unknown != l.Unknown || len(back.Items) != len(l.Items) {
			t.Errorf("%s is read as %+v, %v", b, back, err)
		}
	}
}

func TestConvert(t *testing.T) {
	half := func(n int) (float64, error) {
		if n < 0 {
			return 0, errors.New("negative")
		}
		return float64(n) / 2, nil
	}
	if f := Convert(Known(5, "x"), half); f.Value != 2.5 || f.Source != "x" {
		t.Errorf("%+v", f)
	}
	if f := Convert(Known(-1, "x"), half); f.IsKnown() || f.Unknown != `x reads "-1"` {
		t.Errorf("%+v", f)
	}
	if f := Convert(Unknown[int]("why"), half); f.Unknown != "why" {
		t.Errorf("%+v", f)
	}
	if f := Convert(NA[int]("why"), half); f.NA != "why" {
		t.Errorf("%+v", f)
	}
}

func TestGiveReason(t *testing.T) {
	s := SUT{System: System{Vendor: Known("V", "x"), Product: NA[string]("none")}, Accelerators: List[Accelerator]{Items: []Accelerator{{}}}}
	GiveReason(reflect.ValueOf(&s).Elem(), "lost")
	if s.System.Vendor.Value != "V" || s.System.Product.NA != "none" || s.System.BIOS.Date.Unknown != "lost" || s.Storage.Devices.Unknown != "lost" || s.Accelerators.Unknown != "" {
		t.Errorf("%+v", s)
	}
	link := Link{Width: Known(16, "x")}
	GiveNA(reflect.ValueOf(&link).Elem(), "none")
	if link.Width.NA != "" || link.GTS.NA != "none" || link.GTS.Unknown != "" {
		t.Errorf("%+v", link)
	}
	AroundValues(reflect.ValueOf(&s).Elem(), func(text string) string { return text + "!" })
	if s.System.Vendor != (Fact[string]{Value: "V", Source: "x!"}) || s.System.BIOS.Date.Unknown != "lost!" {
		t.Errorf("%+v", s.System)
	}
	EachText(reflect.ValueOf(&s).Elem(), func(string) string { return "new" })
	if s.System.Vendor != (Fact[string]{Value: "new", Source: "new"}) || s.System.BIOS.Date.Unknown != "new" || s.Storage.Devices.Unknown != "new" {
		t.Errorf("%+v", s.System)
	}
}
