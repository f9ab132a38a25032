package stream

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"
)

const (
	maxHead = 64 << 10 // bytes of a response's head
	maxLine = 4 << 10  // bytes of a chunk-size line or a trailer line
)

var errProtocol = errors.New("the answer is not HTTP/1.1")

// response reads one HTTP/1.1 response from bytes that are split anywhere, and hands its body on as it comes.
type response struct {
	body func(b []byte) // the slice is valid during the call only

	state    state
	line     []byte // begun head, size line or trailer line
	left     int64  // bytes left of the chunk or the body
	status   int
	stream   bool // the content is an event stream
	reusable bool // the connection may carry another request
	idle     time.Duration
	chunked  bool
	length   int64         // -1 when not told
	encoding string        // of the body, which was not asked for; "" for none
	retry    time.Duration // Retry-After; 0 when not told
}

type state uint8

const (
	inHead state = iota
	inSize
	inChunk
	inChunkEnd
	inTrailer
	inBody
	inRest // the body lasts until the connection closes
	ended
)

func (r *response) reset() {
	line, body := r.line[:0], r.body
	*r = response{line: line, body: body}
}

// started says that the head is complete.
func (r *response) started() bool { return r.state != inHead }

// feed takes the next bytes. What follows the response's end makes the connection unfit for reuse.
func (r *response) feed(b []byte) error {
	for len(b) > 0 {
		var err error
		switch r.state {
		case inHead:
			b, err = r.feedHead(b)
		case inSize, inChunkEnd, inTrailer:
			b, err = r.feedLine(b)
		case inChunk, inBody:
			b = r.feedBody(b)
		case inRest:
			r.body(b)
			b = nil
		case ended:
			r.reusable = false
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// feedHead reads the head up to its empty line, and collects it when it comes in pieces.
func (r *response) feedHead(b []byte) ([]byte, error) {
	if len(r.line) == 0 {
		if end := headEnd(b); end >= 0 {
			return b[end:], r.readHead(b[:end])
		}
	}
	from := max(0, len(r.line)-3)
	r.line = append(r.line, b...)
	end := headEnd(r.line[from:])
	if end < 0 {
		if len(r.line) > maxHead {
			return nil, errProtocol
		}
		return nil, nil
	}
	end += from
	rest := b[len(b)-(len(r.line)-end):]
	err := r.readHead(r.line[:end])
	r.line = r.line[:0]
	return rest, err
}

// headEnd gives the index after the first empty line, or -1.
func headEnd(b []byte) int {
	crlf, lf := bytes.Index(b, []byte("\r\n\r\n")), bytes.Index(b, []byte("\n\n"))
	if crlf >= 0 && (lf < 0 || crlf < lf) {
		return crlf + 4
	}
	if lf >= 0 {
		return lf + 2
	}
	return -1
}

func (r *response) readHead(head []byte) error {
	lines := strings.Split(strings.ReplaceAll(string(head), "\r\n", "\n"), "\n")
	proto, rest, _ := strings.Cut(lines[0], " ")
	code, _, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(code)
	if err != nil || !strings.HasPrefix(proto, "HTTP/1.") || status < 100 || status > 999 {
		return errProtocol
	}
	if status < 200 && status != 101 { // an interim response: the real one follows
		return nil
	}
	r.status, r.length, r.reusable, r.idle = status, -1, proto == "HTTP/1.1", idleLimit
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		r.header(strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value))
	}
	r.begin()
	return nil
}

func (r *response) header(name, value string) {
	lower := strings.ToLower(value)
	switch name {
	case "content-type":
		kind, _, _ := strings.Cut(lower, ";")
		r.stream = strings.TrimSpace(kind) == "text/event-stream"
	case "content-encoding":
		if lower != "identity" {
			r.encoding = lower
		}
	case "transfer-encoding":
		r.chunked = strings.Contains(lower, "chunked")
	case "content-length":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			r.length = n
		}
	case "connection":
		if strings.Contains(lower, "close") {
			r.reusable = false
		}
	case "keep-alive":
		r.idle = min(r.idle, keepAlive(lower))
	case "retry-after":
		r.retry = retryAfter(value)
	}
}

// keepAlive gives how long a server's idle connection may be trusted: a second less than it says itself.
func keepAlive(value string) time.Duration {
	for _, part := range strings.Split(value, ",") {
		if s, ok := strings.CutPrefix(strings.TrimSpace(part), "timeout="); ok {
			if n, err := strconv.Atoi(s); err == nil && n >= 0 && n < 3600 {
				return time.Duration(n-1) * time.Second
			}
		}
	}
	return idleLimit
}

// retryAfter reads seconds or a date; 0 when it is neither.
func retryAfter(value string) time.Duration {
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	for _, layout := range []string{time.RFC1123, time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, value); err == nil {
			return max(0, time.Until(at))
		}
	}
	return 0
}

// begin enters the body as the head frames it.
func (r *response) begin() {
	switch {
	case r.status == 204 || r.status == 304:
		r.state = ended
	case r.chunked:
		r.state, r.left = inSize, 0
	case r.length == 0:
		r.state = ended
	case r.length > 0:
		r.state, r.left = inBody, r.length
	default:
		r.state, r.reusable = inRest, false
	}
}

// feedBody hands on the bytes of the current chunk or the body.
func (r *response) feedBody(b []byte) []byte {
	n := min(r.left, int64(len(b)))
	r.body(b[:n])
	if r.left -= n; r.left == 0 {
		if r.state == inBody {
			r.state = ended
		} else {
			r.state = inChunkEnd
		}
	}
	return b[n:]
}

// feedLine reads one line of the chunked framing.
func (r *response) feedLine(b []byte) ([]byte, error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		if r.line = append(r.line, b...); len(r.line) > maxLine {
			return nil, errProtocol
		}
		return nil, nil
	}
	line := b[:i]
	if len(r.line) > 0 {
		r.line = append(r.line, line...)
		line = r.line
	}
	err := r.frame(bytes.TrimRight(line, "\r"))
	r.line = r.line[:0]
	return b[i+1:], err
}

// frame acts on a whole line of the chunked framing.
func (r *response) frame(line []byte) error {
	switch r.state {
	case inSize:
		n, ok := chunkSize(line)
		if !ok {
			return errProtocol
		}
		if r.left, r.state = n, inChunk; n == 0 {
			r.state = inTrailer
		}
	case inChunkEnd:
		if len(line) != 0 {
			return errProtocol
		}
		r.state = inSize
	case inTrailer:
		if len(line) == 0 {
			r.state = ended
		}
	default: // the others are read by bytes, not by lines
	}
	return nil
}

// chunkSize reads a chunk size; what follows a semicolon is an extension.
func chunkSize(line []byte) (n int64, ok bool) {
	for i, c := range line {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		case c == ';' || c == ' ' || c == '\t':
			return n, i > 0
		default:
			return 0, false
		}
		if n = n<<4 | int64(c); n > 1<<40 {
			return 0, false
		}
	}
	return n, len(line) > 0
}
