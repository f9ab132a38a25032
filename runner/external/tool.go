package external

import "slices"

// Tool is one client.
type Tool struct {
	Kind    string   // what a plan calls it
	Format  string   // how its results are read: a name of package imported
	Results string   // its results' file or folder, in the folder of the point
	Program []string // its command where the plan names none
	Version []string // arguments by which it says its version; nil: only its results do
	Can     []Ability
	Hides   bool // its warm-up is in none of its files

	row  func(Prompt) any                  // a prompt as a line of the file it takes; nil: it takes none
	tell func(Tool, Task) (Command, error) // what it is told; pure
}

// Command is how the tool is told to measure a point.
func (t Tool) Command(k Task) (Command, error) { return t.tell(t, k) }

// Tools lists every client that is another program.
func Tools() []Tool {
	return []Tool{
		mlperfEndpoints(),
		vllmBench(),
		inferenceBench(),
		aiperf(),
		guidellm(),
	}
}

// Named finds the tool of a client.kind; false for the native client.
func Named(kind string) (Tool, bool) {
	i := slices.IndexFunc(Tools(), func(t Tool) bool { return t.Kind == kind })
	if i < 0 {
		return Tool{}, false
	}
	return Tools()[i], true
}
