package dataset

import "fmt"

// gluing makes prompts of one length of other conversations: their first questions put together with blanks until that length is
// reached, then cut. A first question that is longer by itself is passed over.
type gluing struct {
	reader
	cut    Cutter
	length int
	text   string
	ratio  float64 // bytes that a prompt took, for each of its length
	long   int
	gave   bool
}

func glue(r reader, cfg Config) reader {
	return &gluing{reader: r, cut: cfg.Cut, length: cfg.InputLen, ratio: 2}
}

func (g *gluing) next() (Conversation, error) {
	for {
		c, err := g.reader.next()
		if err != nil {
			return Conversation{}, err
		}
		before := g.text
		question := g.add(c)
		if float64(len(g.text)) < g.ratio*float64(g.length) {
			continue
		}
		turn, used, ok, err := g.cut(g.text, g.length)
		switch {
		case err != nil:
			return Conversation{}, err
		case !ok:
			g.bound()
			continue
		case len(question) > used:
			g.long++
			g.text = before
			continue
		}
		g.ratio = float64(used) / float64(g.length)
		g.text, g.gave = "", true
		return Conversation{ID: c.ID, Turns: []Turn{turn}}, nil
	}
}

// add puts a conversation's first question behind the others.
func (g *gluing) add(c Conversation) (question string) {
	messages := c.Turns[0].Messages
	question = messages[len(messages)-1].Content
	if g.text != "" {
		g.text += " "
	}
	g.text += question
	return question
}

// bound drops a text that goes on growing without becoming a prompt.
func (g *gluing) bound() {
	if len(g.text) > longestPiece(g.length) {
		g.text = ""
	}
}

func (g *gluing) notes() []string {
	switch {
	case g.long > 0:
		return []string{fmt.Sprintf("%d conversations begin with a question longer than input_len and were passed over", g.long)}
	case g.text != "" && !g.gave:
		return []string{fmt.Sprintf("all questions together are shorter than input_len, %d", g.length)}
	}
	return nil
}
