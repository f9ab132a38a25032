package external

import (
	"path/filepath"

	"assay/plan"
)

// TokenVariable is the variable in which a tool finds the server's bearer token.
const TokenVariable = "OPENAI_API_KEY"

// Task is one point to measure: pure data.
type Task struct {
	Plan    plan.Plan
	Point   plan.Point
	URLs    []string // of the router or the servers, without path
	Model   string   // name in requests
	Dir     string   // absolute: all that the tool writes goes there
	Prompts string   // file of prompts in the tool's form; "" when it makes its own
	Count   int      // prompts in it
	Data    string   // the plan's own dataset, for a tool that reads it
	Seed    uint64   // of what the tool makes up
	CPUs    int      // that the tool may use
	Token   bool     // TokenVariable will be set
	Headers map[string]string
}

// Command is what to start: pure data.
type Command struct {
	Dir   string            // absolute; it may write there
	Argv  []string          // the whole command line, of which Program arguments are the program
	Len   int               // arguments of the program itself
	Env   map[string]string // without secrets
	Read  []string          // absolute paths that it reads
	Files []File
	Notes []string // what a reader of the result must know
	Token bool     // TokenVariable is to be set
}

// File is written into Dir before the start.
type File struct {
	Name string
	Data []byte
}

// path is a file of the task's folder.
func (k Task) path(name string) string { return filepath.Join(k.Dir, name) }

// command begins a command line.
func (k Task) command(tool Tool, args ...string) Command {
	program := k.Plan.Client.Command
	if len(program) == 0 {
		program = tool.Program
	}
	argv := append(append([]string{}, program...), args...)
	c := Command{Dir: k.Dir, Len: len(program), Argv: append(argv, k.Plan.Client.Args...), Token: k.Token, Env: map[string]string{}}
	for _, name := range []string{k.tokenizer(), k.Data} {
		if filepath.IsAbs(name) {
			c.Read = append(c.Read, name)
		}
	}
	if filepath.IsAbs(k.tokenizer()) {
		c.Env["HF_HUB_OFFLINE"] = "1" // what lies on disk is never looked for on the network
	}
	return c
}

// VersionCommand asks a tool for its version; false when it cannot say.
func VersionCommand(p plan.Plan, tool Tool, dir string) (Command, bool) {
	if tool.Version == nil {
		return Command{}, false
	}
	p.Client.Args = nil
	c := Task{Plan: p, Dir: dir}.command(tool, tool.Version...)
	c.Read = nil
	return c, true
}

// tokenizer is the plan's, else the model's folder, else the model's name.
func (k Task) tokenizer() string {
	switch {
	case k.Plan.Client.Tokenizer != "":
		return k.Plan.Client.Tokenizer
	case k.Plan.Model.Path != "":
		return k.Plan.Model.Path
	}
	return k.Model
}

// chat says that requests are chats.
func (k Task) chat() bool { return k.Plan.Server.Endpoint != "completions" }

// sampling holds the plan's sampling under the names of the API, but for the length of the answer.
func (k Task) sampling() map[string]any {
	s, body := k.Plan.Workload.Sampling, map[string]any{}
	if s.IgnoreEOS {
		body["ignore_eos"] = true
	}
	if s.Temperature != nil {
		body["temperature"] = *s.Temperature
	}
	if s.TopP != nil {
		body["top_p"] = *s.TopP
	}
	if s.Seed != nil {
		body["seed"] = *s.Seed
	}
	return body
}
