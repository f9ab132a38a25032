package foreigntest

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// ModeVariable names how the client misbehaves; "" is well.
const ModeVariable = "FOREIGN_MODE"

// The modes.
const (
	Half   = "half"   // has half of the asked requests in flight, and dates them so that all seem to be
	Boast  = "boast"  // counts half as many tokens again as came
	Forget = "forget" // lists three of four requests
	Exit   = "exit"   // ends with code 3
	None   = "none"   // writes nothing and ends with code 0
	Hang   = "hang"   // never ends
)

//go:embed flags/*.txt
var flags embed.FS

var errWrong = errors.New("ValueError: it went wrong")

// tool is how one client takes its arguments and writes its results.
type tool struct {
	kind    string
	command []string // words before its flags
	version string
	load    func(args) (load, error)
	write   func(args, []request, time.Duration) error
}

func tools() []tool {
	return []tool{
		{"vllm-bench", []string{"bench", "serve"}, "0.32.0+cpu", vllmLoad, vllmWrite},
		{"aiperf", []string{"profile"}, "0.13.0", aiperfLoad, aiperfWrite},
		{"guidellm", []string{"run"}, "guidellm version: 0.8.1", guidellmLoad, guidellmWrite},
		{"mlperf-endpoints", []string{"benchmark", "from-config"}, "0.1.0", mlperfLoad, mlperfWrite},
		{"llm-inference-bench", nil, "", inferenceBenchLoad, inferenceBenchWrite},
	}
}

// Main is the client of a kind: words are the kind and its command line. It gives the exit code.
func Main(words []string) int {
	err := run(words)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	if errors.Is(err, errWrong) {
		return 3
	}
	return 2
}

func run(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("which client?")
	}
	i := slices.IndexFunc(tools(), func(t tool) bool { return t.kind == words[0] })
	if i < 0 {
		return fmt.Errorf("no client %q", words[0])
	}
	t, words := tools()[i], words[1:]
	if slices.Equal(words, []string{"--version"}) && t.version != "" {
		fmt.Println("WARNING: something of no interest")
		fmt.Println(t.version)
		return nil
	}
	if len(words) < len(t.command) || !slices.Equal(words[:len(t.command)], t.command) {
		return fmt.Errorf("usage: %s %s", t.kind, strings.Join(t.command, " "))
	}
	a, err := parse(t.kind, words[len(t.command):])
	if err != nil {
		return err
	}
	return t.measure(a)
}

func (t tool) measure(a args) error {
	l, err := t.load(a)
	if err != nil {
		return err
	}
	mode := os.Getenv(ModeVariable)
	if mode == Hang {
		select {}
	}
	began := time.Now()
	requests := l.drive(mode == Half)
	if mode == None {
		return nil
	}
	switch mode {
	case Exit:
		return errWrong
	case Boast:
		for i := range requests {
			requests[i].out = requests[i].out * 3 / 2
		}
	case Forget:
		requests = requests[:len(requests)*3/4]
	}
	return t.write(a, requests, time.Since(began))
}

// args are flags and their values.
type args map[string][]string

// parse takes the flags of a client and no others.
func parse(kind string, words []string) (args, error) {
	b, err := flags.ReadFile("flags/" + kind + ".txt")
	if err != nil {
		return nil, err
	}
	known, a, last := strings.Fields(string(b)), args{}, ""
	for _, word := range words {
		if strings.HasPrefix(word, "--") {
			if !slices.Contains(known, word) {
				return nil, fmt.Errorf("%s: error: unrecognized arguments: %s", kind, word)
			}
			last = word
			a[last] = append(a[last], "")
			continue
		}
		if last == "" || a[last][len(a[last])-1] != "" {
			return nil, fmt.Errorf("%s: error: unrecognized arguments: %s", kind, word)
		}
		a[last][len(a[last])-1] = word
	}
	return a, nil
}

// one is the value of a flag; "" when it was not given.
func (a args) one(flag string) string {
	if len(a[flag]) == 0 {
		return ""
	}
	return a[flag][0]
}

// want gives the values of flags that must be there.
func (a args) want(flags ...string) error {
	for _, f := range flags {
		if a.one(f) == "" {
			return fmt.Errorf("error: the following arguments are required: %s", f)
		}
	}
	return nil
}
