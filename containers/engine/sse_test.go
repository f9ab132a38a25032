package engine

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestEventData: all that an event stream may look like, in one piece and byte by byte.
func TestEventData(t *testing.T) {
	for stream, want := range map[string][]string{
		"data: a\n\ndata: b\n\n":                               {"a", "b"},
		"data: a\r\rdata: b\r\r":                               {"a", "b"},
		"data: a\r\n\r\ndata: b\r\n\r\n":                       {"a", "b"},
		"data: {\ndata: \"x\":1}\ndata\n\n":                    {"{\n\"x\":1}\n"},
		": ping\n\nevent: m\nid: 7\n:data: no\ndata:  a\n\n":   {" a"},
		"\xef\xbb\xbfdata:a\n\n\n\nretry: 3\n\ndataset: b\n\n": {"a"},
		"data: cut off":                                        {"cut off"},
		"":                                                     nil,
	} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(stream), "by bytes": iotest.OneByteReader(strings.NewReader(stream))} {
			var got []string
			if err := eventData(in, func(data string) bool { got = append(got, data); return true }); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%q, %s: %s", stream, name, d)
			}
		}
	}
}

// TestFirstTokenInAnyForm: a token is one in every form that the client takes, and is seen before the stream goes on.
func TestFirstTokenInAnyForm(t *testing.T) {
	for _, stream := range []string{
		"data: {\"choices\":[{\"text\":\"a\"}]}\r\r",
		": hello\r\rdata: {\"choices\":\rdata: [{\"text\":\"a\"}]}\r\r",
		"event: message\ndata: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n",
		`data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}}]}` + "\n\n",
		`data: {"choices":[{"delta":{"content":null,"thinking":"a"}}]}` + "\n\n",
		`data: {"choices":[{"delta":{"refusal":"a"}}]}` + "\n\n",
		`data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}` + "\n\n",
		`data: {"error":"","choices":[{"text":"a"}]}` + "\n\n",
		`data: {"error":{},"choices":[{"delta":{"content":""},"finish_reason":{"type":"x"}}]}` + "\n\n" + `data: {"choices":[{"text":"a"}]}` + "\n\n",
	} {
		rest, more := io.Pipe()
		go func() { _, _ = more.Write([]byte(stream)) }()
		if problem := FirstToken(rest); problem != "" {
			t.Errorf("%q: %s", stream, problem)
		}
	}
}
