package dataset

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"
)

// trace replays recorded requests, of which only instant and lengths are known, in one of two forms: JSON lines of timestamp
// (milliseconds), input_length, output_length and hash_ids, or a CSV with a header. Prompts are made to the recorded lengths; a hash id is
// a block of tokens, and equal ids have equal text, so that a prefix cache finds what it found then. Rows a little out of order are sorted.
type trace struct {
	lines
	vocabulary Vocabulary
	seed       uint64
	form       traceForm
	block      int // tokens of a hash id; 0 until known
	first      time.Duration
	given      time.Duration // instant of the last row that was given
	begun      bool
	queue      rowQueue
	ended      bool
	tiny       int // rows that are shorter than what stands around every prompt
}

// reorder is how many rows are held to be sorted.
const reorder = 1024

// traceRow is one recorded request.
type traceRow struct {
	line          int
	at            time.Duration
	input, output int
	blocks        []uint64  // digests of the hash ids
	messages      []Message // where the row has its own text
}

// traceForm reads a row of a line.
type traceForm interface {
	row(line []byte) (traceRow, error)
}

func newTrace(from origin, cfg Config) reader {
	return &trace{lines: lines{from: from}, vocabulary: cfg.Vocabulary, seed: cfg.Seed}
}

func (r *trace) next() (Conversation, error) {
	for !r.ended && len(r.queue) < reorder {
		row, err := r.read()
		if errors.Is(err, io.EOF) {
			r.ended = true
			break
		}
		if err != nil {
			return Conversation{}, err
		}
		heap.Push(&r.queue, row)
	}
	if len(r.queue) == 0 {
		return Conversation{}, io.EOF
	}
	return r.conversation(heap.Pop(&r.queue).(traceRow)), nil
}

// read gives the next row of the file. One that comes after a later one was given is too late to be sorted.
func (r *trace) read() (traceRow, error) {
	line, err := r.lines.next()
	if err != nil {
		return traceRow{}, err
	}
	if r.form == nil {
		switch line[0] {
		case '[':
			r.ended = true
			return traceRow{}, mended("write a record a line, such as by `jq -c '.[]'`", "line %d: a list; a trace in JSON is one record a line; the file was not read further", r.number)
		case '{':
		default:
			return r.readHeader(line)
		}
		r.form = jsonTrace{}
	}
	row, err := r.form.row(line)
	row.line = r.number
	switch {
	case err != nil:
		return row, badf("line %d: %v", r.number, err)
	case r.begun && row.at < r.given:
		return row, badf("line %d: its instant is before that of an earlier line by more than %d lines; sort the file", r.number, reorder)
	}
	return row, nil
}

// readHeader takes a CSV's first line, and gives the row behind it.
func (r *trace) readHeader(line []byte) (traceRow, error) {
	form, err := readCSVHeader(line)
	if err != nil {
		return traceRow{}, badf("line %d: %v", r.number, err)
	}
	r.form = form
	return r.read()
}

func (r *trace) conversation(row traceRow) Conversation {
	if !r.begun {
		r.begun, r.first = true, row.at
	}
	r.given = row.at
	c := Conversation{ID: fmt.Sprintf("trace-%d", row.line), Numbered: true, At: row.at - r.first}
	turn := Turn{Messages: row.messages}
	if row.messages == nil {
		if len(row.blocks) > 0 {
			c.Prompt = 1 // what requests share lies behind the same salt
		}
		turn = r.prompt(row)
	}
	turn.MaxTokens = row.output
	c.Turns = []Turn{turn}
	return c
}

// prompt makes the text of a row: its blocks, then text of its own for what they do not cover.
func (r *trace) prompt(row traceRow) Turn {
	v := r.vocabulary
	n := v.room(row.input)
	pieces := make([]int32, 0, n)
	block := r.blockOf(row)
	for i, id := range row.blocks {
		size := block
		if i == 0 {
			size = max(1, block-v.Overhead) // so that the blocks end where they ended
		}
		if size = min(size, n-len(pieces)); size <= 0 {
			break
		}
		pieces = v.pick(pieces, rand.New(rand.NewPCG(r.seed, id)), size)
	}
	own := rand.New(rand.NewPCG(^r.seed, uint64(row.line)))
	turn := v.Prompt(v.pick(pieces, own, n-len(pieces)))
	if turn.InputTokens = v.wanted(row.input); row.input <= v.Overhead {
		r.tiny++
		turn.InputTokens = 0
	}
	return turn
}

func (r *trace) notes() []string {
	if r.tiny == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d rows of the trace are shorter than the %d tokens that every prompt has at least", r.tiny, r.vocabulary.Overhead+1)}
}

// blockOf finds the size of the file's blocks by the first row that has some: published traces have 512 tokens, others less.
func (r *trace) blockOf(row traceRow) int {
	if r.block == 0 && len(row.blocks) > 0 {
		r.block = 512
		for _, size := range []int{512, 256, 128, 64, 32, 16} {
			if (row.input+size-1)/size == len(row.blocks) {
				r.block = size
				break
			}
		}
	}
	return r.block
}

// rowQueue is a heap of rows by instant, then line.
type rowQueue []traceRow

func (q rowQueue) Len() int { return len(q) }
func (q rowQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].line < q[j].line
}
func (q rowQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *rowQueue) Push(x any)   { *q = append(*q, x.(traceRow)) }
func (q *rowQueue) Pop() any {
	last := len(*q) - 1
	row := (*q)[last]
	*q = (*q)[:last]
	return row
}

// jsonTrace is a row as Mooncake's traces have it: {"timestamp": 350, "input_length": 1500, "output_length": 25, "hash_ids": [7, 8]}. A row
// may have text of its own in place of a length: prompt, text, text_input or messages.
type jsonTrace struct{}

func (jsonTrace) row(line []byte) (traceRow, error) {
	var raw struct {
		Timestamp   *float64          `json:"timestamp"`
		InputLength int               `json:"input_length"`
		HashIDs     []json.RawMessage `json:"hash_ids"`
		jsonlRow
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return traceRow{}, plainly(err)
	}
	if raw.Timestamp == nil {
		return traceRow{}, errors.New("no timestamp")
	}
	limit, err := raw.limit()
	if err != nil {
		return traceRow{}, err
	}
	row := traceRow{input: raw.InputLength, output: limit}
	for _, id := range raw.HashIDs {
		h := fnv.New64a()
		_, _ = h.Write(id) // never fails
		row.blocks = append(row.blocks, h.Sum64())
	}
	if raw.InputLength == 0 {
		messages, err := raw.messages()
		if err != nil {
			return row, errors.New("want input_length, a prompt or messages")
		}
		row.messages = messages
	}
	row.at, err = instant(*raw.Timestamp, time.Millisecond)
	return row, errors.Join(err, row.check())
}

// longestInput bounds a recorded length: what is above is a slip.
const longestInput = 1 << 24

func (r traceRow) check() error {
	if r.input < 0 || r.input > longestInput || r.output < 0 || r.output > longestInput {
		return fmt.Errorf("lengths of %d and %d tokens", r.input, r.output)
	}
	return nil
}

// instant converts a number of units; a trace may reach over a hundred years.
func instant(value float64, unit time.Duration) (time.Duration, error) {
	const limit = float64(100 * 365 * 24 * time.Hour)
	if at := value * float64(unit); at > -limit && at < limit {
		return time.Duration(at), nil
	}
	return 0, fmt.Errorf("timestamp %v", value)
}
