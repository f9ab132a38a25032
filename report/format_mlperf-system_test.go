package report

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/result"
)

// TestMLPerfSystemWithoutAMachine: where a run has no machine, every text that must be there says why, of an import another reason than of a run.
func TestMLPerfSystemWithoutAMachine(t *testing.T) {
	for plan, why := range map[string]string{
		`{}`: "the run ended before its machine was read",
		`{"schema":"` + result.ImportSchema + `","name":"x","import":{"format":"vllm"},"points":[]}`: "no machine was given with --sut",
	} {
		var b strings.Builder
		if err := mlperfSystemFormat().Write(&b, Input{Result: result.Result{Plan: json.RawMessage(plan)}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "unknown: "); got != strings.Count(b.String(), "unknown: "+why) || got < 5 {
			t.Errorf("%s", b.String())
		}
	}
}
