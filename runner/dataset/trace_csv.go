package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// csvTrace is a trace with a header: Azure's (TIMESTAMP, ContextTokens, GeneratedTokens) or BurstGPT's (Timestamp, Request tokens, Response
// tokens). An instant is a date with time, or a number of seconds.
type csvTrace struct{ at, input, output int }

// readCSVHeader finds the columns.
func readCSVHeader(line []byte) (traceForm, error) {
	names, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil {
		return nil, err
	}
	f := csvTrace{-1, -1, -1}
	for i, name := range names {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "timestamp":
			f.at = i
		case "contexttokens", "request tokens":
			f.input = i
		case "generatedtokens", "response tokens":
			f.output = i
		}
	}
	if f.at < 0 || f.input < 0 || f.output < 0 {
		return nil, errors.New("neither JSON nor a header with TIMESTAMP, ContextTokens, GeneratedTokens")
	}
	return f, nil
}

func (f csvTrace) row(line []byte) (traceRow, error) {
	fields, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil {
		return traceRow{}, err
	}
	if len(fields) <= max(f.at, f.input, f.output) {
		return traceRow{}, fmt.Errorf("%d fields", len(fields))
	}
	var row traceRow
	var errs [3]error
	row.at, errs[0] = csvInstant(fields[f.at])
	row.input, errs[1] = strconv.Atoi(strings.TrimSpace(fields[f.input]))
	row.output, errs[2] = strconv.Atoi(strings.TrimSpace(fields[f.output]))
	if err := errors.Join(errs[:]...); err != nil {
		return row, err
	}
	if row.input < 1 || row.output < 1 {
		return row, fmt.Errorf("lengths of %d and %d tokens", row.input, row.output)
	}
	return row, row.check()
}

// csvInstant reads a date with time, of which only differences matter, or seconds.
func csvInstant(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	if value, err := strconv.ParseFloat(s, 64); err == nil {
		return instant(value, time.Second)
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339} { // each takes fractions of a second
		if at, err := time.Parse(layout, s); err == nil && at.Year() > 1970 && at.Year() < 2100 {
			return at.Sub(time.Unix(0, 0)), nil
		}
	}
	return 0, fmt.Errorf("timestamp %q", s)
}
