package sim

import "time"

// FaultKind is what goes wrong, or is only odd.
type FaultKind string

// The faults that end a request or hold it up. Those of a stream happen after AtToken of its tokens were sent.
const (
	Reject      FaultKind = "reject"
	Status      FaultKind = "status"
	Hangup      FaultKind = "hangup"
	Whole       FaultKind = "whole"
	Page        FaultKind = "page"
	ErrorFrame  FaultKind = "error_frame"
	ErrorObject FaultKind = "error_object"
	ErrorText   FaultKind = "error_text"
	ErrorEvent  FaultKind = "error_event"
	Garbage     FaultKind = "garbage"
	Cut         FaultKind = "cut"
	Reset       FaultKind = "reset"
	Die         FaultKind = "die"
	Truncate    FaultKind = "truncate"
	Abort       FaultKind = "abort"
	Stall       FaultKind = "stall"
	Ping        FaultKind = "ping"
	CloseIdle   FaultKind = "close_idle"
)

// The faults of what a stream says and of how it is written.
const (
	RoleAlone    FaultKind = "role_alone"
	HeadersLate  FaultKind = "headers_late"
	Bundle       FaultKind = "bundle"
	Hidden       FaultKind = "hidden"
	EmptyDelta   FaultKind = "empty_delta"
	ToolCalls    FaultKind = "tool_calls"
	NoChoices    FaultKind = "no_choices"
	UsageNone    FaultKind = "usage_none"
	UsageWrong   FaultKind = "usage_wrong"
	UsageLate    FaultKind = "usage_late"
	UsageInside  FaultKind = "usage_inside"
	NoFinish     FaultKind = "no_finish"
	NoDone       FaultKind = "no_done"
	LongLine     FaultKind = "long_line"
	CR           FaultKind = "cr"
	CRLF         FaultKind = "crlf"
	Tight        FaultKind = "tight"
	Comments     FaultKind = "comments"
	Fields       FaultKind = "fields"
	Lines        FaultKind = "lines"
	Mark         FaultKind = "mark"
	Pieces       FaultKind = "pieces"
	MidCharacter FaultKind = "mid_character"
)

// FaultInfo says what a kind does and what its numbers mean.
type FaultInfo struct {
	Kind    FaultKind
	AtToken bool          // happens once, after AtToken of the stream's tokens were sent
	Delay   time.Duration // where a fault of the kind names none
	Amount  int           // where a fault of the kind names none
	Text    string
}

// Faults lists what can go wrong.
func Faults() []FaultInfo {
	const second = time.Second
	return []FaultInfo{
		{Kind: Reject, Text: "429 instead of an answer, with Retry-After: delay"},
		{Kind: Status, Amount: 500, Text: "the status amount instead of an answer, with Retry-After where there is a delay"},
		{Kind: Hangup, Text: "the connection closes before the first byte of an answer"},
		{Kind: Whole, Text: "one JSON document although a stream was asked for"},
		{Kind: Page, Text: "200 with a page of HTML"},
		{Kind: ErrorFrame, AtToken: true, Text: "an event with the key error (an object), then [DONE]; the end"},
		{Kind: ErrorObject, AtToken: true, Text: "an event {\"object\":\"error\",…}; the end, without [DONE]"},
		{Kind: ErrorText, AtToken: true, Text: "an event with the key error (a text); the end, without [DONE]"},
		{Kind: ErrorEvent, AtToken: true, Text: "an event of the type error, whose data has no key error; the end, without [DONE]"},
		{Kind: Garbage, AtToken: true, Text: "an event whose data is no JSON; the stream goes on"},
		{Kind: Cut, AtToken: true, Text: "the connection closes in the middle of the body"},
		{Kind: Reset, AtToken: true, Text: "the connection is reset (RST)"},
		{Kind: Die, AtToken: true, Delay: second, Text: "the server resets all connections, listens no more, and is back after delay with an empty cache"},
		{Kind: Truncate, AtToken: true, Text: "the body ends properly, without finish reason, usage and [DONE]"},
		{Kind: Abort, AtToken: true, Text: "the reply ends with finish reason abort, usage, [DONE]"},
		{Kind: Stall, AtToken: true, Text: "nothing is sent for delay"},
		{Kind: Ping, AtToken: true, Delay: second, Text: "nothing but comments is sent for delay, one every tenth of it"},
		{Kind: CloseIdle, Delay: 5 * second, Text: "the connection is closed when it was idle for delay after the answer"},
		{Kind: RoleAlone, Text: "the role chunk comes alone, delay after the request and not with the first token"},
		{Kind: HeadersLate, Text: "the headers come with the first token, not at once"},
		{Kind: Bundle, Amount: 4, Text: "the first event brings amount tokens"},
		{Kind: Hidden, Amount: 8, Text: "the first amount tokens are in the usage but never sent"},
		{Kind: EmptyDelta, Text: "events have no text once @token tokens were sent; only the usage grows"},
		{Kind: ToolCalls, Text: "a chat reply comes as the arguments of a tool call"},
		{Kind: NoChoices, Text: "an event with an empty list of choices stands before each token event"},
		{Kind: UsageNone, Text: "no usage, whatever was asked for"},
		{Kind: UsageWrong, Amount: 7, Text: "the usage counts amount output tokens too many"},
		{Kind: UsageLate, Delay: second, Text: "the usage comes delay after the last token"},
		{Kind: UsageInside, Text: "the last usage is in the event with the finish reason, and there only"},
		{Kind: NoFinish, Text: "no finish reason"},
		{Kind: NoDone, Text: "no [DONE]"},
		{Kind: LongLine, Amount: 5 << 20, Text: "the event after @token tokens is amount bytes longer"},
		{Kind: CR, Text: "lines end with CR"},
		{Kind: CRLF, Text: "lines end with CR LF"},
		{Kind: Tight, Text: "no space follows a field's colon"},
		{Kind: Comments, Text: "a comment stands before each event"},
		{Kind: Fields, Text: "each event has the fields event, id and retry too"},
		{Kind: Lines, Text: "the data of an event stands in several lines"},
		{Kind: Mark, Text: "the stream begins with a byte order mark"},
		{Kind: Pieces, Amount: 1, Text: "writes of amount bytes each"},
		{Kind: MidCharacter, Text: "words have characters of several bytes, and a write ends inside each"},
	}
}

// FaultKinds lists the kinds.
func FaultKinds() []FaultKind {
	list := Faults()
	kinds := make([]FaultKind, len(list))
	for i, f := range list {
		kinds[i] = f.Kind
	}
	return kinds
}

// info tells about f's kind; false when it is none.
func (f Fault) info() (FaultInfo, bool) {
	for _, k := range Faults() {
		if k.Kind == f.Kind {
			return k, true
		}
	}
	return FaultInfo{}, false
}
