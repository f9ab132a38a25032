package paced

import (
	"fmt"
	"strings"
)

const (
	answerHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	models     = `{"object":"list","data":[{"id":"paced","object":"model"}]}`
	lastChunk  = "0\r\n\r\n"
	hole       = "################" // of an instant: 16 hex digits
)

// ID is the response id of a request's number.
func ID(n uint64) string { return fmt.Sprintf("chatcmpl-%032x", n) }

// chunk frames an event for HTTP.
func chunk(event string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(event), event) }

// choice is a chunk of the shape that vLLM sends.
func choice(n uint64, delta, finish string) string {
	return chunk(`data: {"id":"` + ID(n) + `","object":"chat.completion.chunk","created":1765432100,"model":"paced/paced-70B-instruct","choices":[{"index":0,"delta":` +
		delta + `,"logprobs":null,"finish_reason":` + finish + `,"token_ids":null}]}` + "\n\n")
}

// opening tells the role, before the first token.
func opening(n uint64) string { return choice(n, `{"role":"assistant","content":""}`, "null") }

// tokenEvent is an event with a hole for its instant, and the index of that hole.
func tokenEvent(n uint64, finish string) ([]byte, int) {
	text := choice(n, `{"content":" `+hole+`"}`, finish)
	return []byte(text), strings.Index(text, hole)
}

// closing ends a stream: usage where it was asked for, [DONE], and the body's end.
func closing(n uint64, tokens int, usage bool) string {
	end := chunk("data: [DONE]\n\n") + lastChunk
	if !usage {
		return end
	}
	return chunk(fmt.Sprintf(`data: {"id":"%s","object":"chat.completion.chunk","created":1765432100,"model":"paced/paced-70B-instruct","choices":[],"usage":{"prompt_tokens":16,"total_tokens":%d,"completion_tokens":%d}}`+"\n\n",
		ID(n), 16+tokens, tokens)) + end
}

// writeHex fills a hole.
func writeHex(to []byte, t int64) {
	const digits = "0123456789abcdef"
	for i := len(hole) - 1; i >= 0; i-- {
		to[i] = digits[t&15]
		t >>= 4
	}
}
