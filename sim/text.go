package sim

import "strings"

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hashText folds s into h (FNV-1a, stable over versions and machines).
func hashText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return (h ^ 0xff) * fnvPrime // ends the word, so that "ab c" and "a bc" differ
}

// mix spreads the bits of x (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// vocabulary are the words of the replies; a token's id is its place.
const vocabulary = `the a to of and in it is that for on with as at by this from or be are was not have can will
file test build server request log error run line value name path time read write open close start stop check change
add move keep find list show set get call wait send make take give look need use try fix plan step first next last
each other same new old small large short long fast slow clean safe ready done left right above below inside outside
before after while until because then so but if when where which what how why all some none one two three four five
disk memory cache queue token stream batch node host port key table index block page record field type list map loop
branch commit patch merge review release version config option flag default limit window rate count sum mean share
pass fail warn retry cancel resume watch report result reason answer question note draft copy print parse match split
join sort count filter group order begin end middle full empty partial exact near far early late soon again once twice`

// reply makes the text of one request.
type reply struct {
	seed  uint64
	words []string
}

// token gives the id of the reply's nth token, from 0.
func (r reply) token(n int) int { return int(mix(r.seed+uint64(n)) % uint64(len(r.words))) }

// burst is how many tokens the step makes that finds the reply with so many: one, and the drafts before the first that is not accepted.
func (r reply) burst(made int, cfg Config) int {
	n := 1
	if made == 0 { // the prompt's last step has no drafts
		return n
	}
	for ; n <= cfg.Drafts; n++ {
		if float64(mix(r.seed^mix(uint64(made+n)))>>11)/(1<<53) >= cfg.Acceptance {
			break
		}
	}
	return n
}

// word is its text.
func (r reply) word(n int) string { return r.words[r.token(n)] }

// length is the reply's natural length around mean.
func (r reply) length(mean int) int {
	return max(1, mean/2+int(mix(^r.seed)%uint64(mean+1)))
}

// text is the reply's first n tokens.
func (r reply) text(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.word(i))
	}
	return b.String()
}
