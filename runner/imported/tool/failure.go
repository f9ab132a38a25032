package tool

import (
	"errors"
	"strings"

	"assay/runner/record"
)

// mostError is how many bytes of an error text a recording keeps.
const mostError = 500

// fail marks a request as failed by what the tool wrote of it.
func fail(q *record.Request, text string) {
	q.Outcome, q.Error = outcomeOf(text), text
	if len(q.Error) > mostError {
		q.Error = strings.ToValidUTF8(q.Error[:mostError], "")
	}
}

// outcomeOf reads a tool's words: exceptions of Python's HTTP clients, and HTTP's own reasons.
func outcomeOf(text string) record.Outcome {
	low := strings.ToLower(text)
	for _, sign := range []struct {
		word string
		is   record.Outcome
	}{
		{"timeout", record.Timeout}, {"timed out", record.Timeout},
		{"cannot connect", record.Refused}, {"connection refused", record.Refused}, {"connectionrefused", record.Refused}, {"connecterror", record.Refused},
		{"payload is not completed", record.Reset}, {"incomplete chunked read", record.Reset}, {"without sending complete", record.Reset},
		{"disconnected", record.Reset}, {"reset by peer", record.Reset}, {"connectionreset", record.Reset}, {"readerror", record.Reset},
		{"cancel", record.Aborted}, {"http ", record.HTTPStatus}, {"bad request", record.HTTPStatus}, {"not found", record.HTTPStatus},
		{"too many requests", record.HTTPStatus}, {"internal server error", record.HTTPStatus}, {"service unavailable", record.HTTPStatus},
		{"bad gateway", record.HTTPStatus}, {"gateway time", record.HTTPStatus}, {"unauthorized", record.HTTPStatus}, {"forbidden", record.HTTPStatus},
	} {
		if strings.Contains(low, sign.word) {
			return sign.is
		}
	}
	return record.BadResponse
}

// errUnit is a unit that is none of time.
var errUnit = errors.New("no unit of time")
