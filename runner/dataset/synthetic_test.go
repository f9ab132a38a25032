package dataset

import "testing"

// TestSyntheticHash: the same hash stands for the same prompts, whatever their length. The hash of the words' definition may only change
// with the generator's number.
func TestSyntheticHash(t *testing.T) {
	of := func(cfg Config) string {
		cfg.Kind = "synthetic"
		return open(t, cfg).Stats().SHA256
	}
	const known = "0e621da0f355623737094735ed65eb8ba05cbe1815dd8387269acece4d12ef40"
	base := Config{Seed: 7, InputLen: 100}
	if got := of(base); got != known {
		t.Errorf("%s, want %s", got, known)
	}
	longer := base
	longer.InputLen = 5000
	if of(longer) != known {
		t.Error("it depends on the length")
	}
	ids := Vocabulary{IDs: []int32{5, 6}}
	seen := map[string]bool{known: true}
	for name, cfg := range map[string]Config{
		"seed": {Seed: 8}, "turns": {Seed: 7, Turns: 2}, "ids": {Seed: 7, Vocabulary: ids}, "lead": {Seed: 7, Vocabulary: Vocabulary{IDs: ids.IDs, Lead: []int32{5}}},
		"words": {Seed: 7, Vocabulary: Vocabulary{Words: []string{"5", "6"}}}, "begin": {Seed: 7, Vocabulary: Vocabulary{Words: []string{"5", "6"}, Begin: "x"}},
	} {
		got := of(cfg)
		if seen[got] {
			t.Errorf("%s: another definition has the hash %s too", name, got)
		}
		seen[got] = true
	}
}

// TestSyntheticPromptsFollowFromTheirDefinition: a longer prompt begins as the shorter one of the same number does, and the words drawn are
// those of the generator's number.
func TestSyntheticPromptsFollowFromTheirDefinition(t *testing.T) {
	content := func(length int) string {
		return take(t, open(t, Config{Kind: "synthetic", Seed: 7, InputLen: length}), 3)[2].Turns[0].Messages[0].Content
	}
	short, long := content(6), content(40)
	if short != "stick term fish system invent pretty" || long[:len(short)+1] != short+" " {
		t.Errorf("%q, %q", short, long)
	}
}
