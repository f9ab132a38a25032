package nvidia

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// parseText reads `nvidia-smi -q`, whose nesting is its indentation; keys repeat, so only the whole path names a value.
func parseText(b []byte) (*node, error) {
	if !bytes.Contains(b, []byte("NVSMI LOG")) {
		return nil, errors.New("nvidia-smi printed no NVSMI LOG")
	}
	root := &node{}
	type level struct {
		indent int
		node   *node
	}
	stack := []level{{-1, root}}
	for line := range strings.Lines(string(b)) {
		body := strings.TrimLeft(strings.TrimRight(line, " \r\n"), " ")
		if body == "" || strings.HasPrefix(body, "=") {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for len(stack) > 1 && stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > maxDepth {
			return nil, errors.New("nvidia-smi's text is nested too deeply")
		}
		top := stack[len(stack)-1].node
		kid := (*node)(nil)
		if id, ok := strings.CutPrefix(body, "GPU "); ok && indent == 0 {
			kid = top.add("gpu", "")
			kid.add("@id", strings.TrimSpace(id))
		} else {
			key, value, _ := strings.Cut(body, ": ")
			kid = top.add(slug(strings.TrimSuffix(strings.TrimSpace(key), ":")), strings.TrimSpace(value))
		}
		stack = append(stack, level{indent, kid})
	}
	return root, complete(root)
}

// slug writes a key of the text as the XML does: "FB Memory Usage" is fb_memory_usage.
func slug(key string) string {
	words := strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "_")
}

// complete refuses a report that lists fewer GPUs than it announces, where that is the only sign of having been cut off.
func complete(log *node) error {
	n, err := log.announced()
	if found := len(log.all("gpu")); err == nil && n != found {
		return fmt.Errorf("nvidia-smi announces %d GPUs and lists %d: its report is cut off or a GPU is lost", n, found)
	}
	return err
}
