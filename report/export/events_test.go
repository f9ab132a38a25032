package export

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/result"
	"assay/runner/record"
)

// TestEventsTellHowARequestFailed: a line has the status and the error where there was one, and nothing of them elsewhere.
func TestEventsTellHowARequestFailed(t *testing.T) {
	recordings := func(_ string, visit func(*record.Request) error) (record.Whole, error) {
		for _, r := range []record.Request{
			{ID: "a", SentUS: 1, Outcome: record.OK, Status: 200, FinishReason: "length", InputTokens: 2, OutputTokens: 3},
			{SentUS: 2, Outcome: record.HTTPStatus, Status: 400, Error: "HTTP 400: too long", InputTokens: record.Never, OutputTokens: record.Never},
			{SentUS: record.Never, Outcome: record.Dropped, InputTokens: record.Never, OutputTokens: record.Never},
		} {
			if err := visit(&r); err != nil {
				return record.Whole{}, err
			}
		}
		return record.Whole{}, nil
	}
	var b bytes.Buffer
	if err := Events(&b, result.Result{Points: []result.Point{{ID: "c1", Recording: &result.Recording{}}}}, recordings); err != nil {
		t.Fatal(err)
	}
	want := `{"point":"c1","response_id":"a","session":"","turn":0,"sent_us":1,"outcome":"ok","input_tokens":2,"output_tokens":3,"events":[],"status":200,"finish_reason":"length"}
{"point":"c1","response_id":"","session":"","turn":0,"sent_us":2,"outcome":"http_status","input_tokens":null,"output_tokens":null,"events":[],"status":400,"error":"HTTP 400: too long"}
{"point":"c1","response_id":"","session":"","turn":0,"sent_us":null,"outcome":"dropped","input_tokens":null,"output_tokens":null,"events":[]}
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
