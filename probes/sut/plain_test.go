package sut

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	s := SUT{Schema: SchemaSUT, Accelerators: List[Accelerator]{Items: []Accelerator{{PowerCapW: Known(700.0, "test"), Processes: List[GPUProcess]{Unknown: "hidden"}}}}}
	b, err := Plain(s)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema       string `json:"schema"`
		Program      any    `json:"program"`
		Accelerators []struct {
			PowerCapW float64 `json:"power_cap_w"`
			Name      any     `json:"name"`
			Processes any     `json:"processes"`
			Throttle  []any   `json:"throttle"`
		} `json:"accelerators"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	a := doc.Accelerators[0]
	if doc.Schema != SchemaSUT || doc.Program == nil || a.PowerCapW != 700 || a.Name != nil || a.Processes != nil || a.Throttle == nil {
		t.Errorf("%+v\n%s", doc, b)
	}
	if i, j := strings.Index(string(b), `"system"`), strings.Index(string(b), `"cpu"`); i < 0 || i > j {
		t.Error("the keys lost their order")
	}
}
