package amdsmi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxDocuments bounds how many JSON documents are read of one output; partition prints three.
const maxDocuments = 1000

// documents reads every JSON document that a tool printed. Warnings stand before the first and legends between them; colours may run
// through all of it. Numbers stay texts, so that none of 64 bits is rounded. A document that is cut off is an error.
func documents(out []byte) ([]any, error) {
	out = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]").ReplaceAll(out, nil)
	var docs []any
	for len(docs) < maxDocuments {
		at := bytes.IndexAny(out, "{[")
		if at < 0 {
			break
		}
		d := json.NewDecoder(bytes.NewReader(out[at:]))
		d.UseNumber()
		var doc any
		err := d.Decode(&doc)
		switch {
		case err == nil:
			docs = append(docs, doc)
			out = out[at+int(d.InputOffset()):]
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, errors.New("its output is cut off")
		default:
			out = out[at+1:] // a bracket in a warning, such as [WARN]
		}
	}
	if !holds(docs) {
		return nil, errors.New("its output holds no JSON")
	}
	return docs, nil
}

// holds tells whether there is an object in the documents: [1] in a warning is a document too.
func holds(docs []any) bool {
	for _, doc := range docs {
		switch v := doc.(type) {
		case map[string]any:
			return true
		case []any:
			if holds(v) || len(v) == 0 {
				return true
			}
		}
	}
	return false
}

// entries gives the objects for the GPUs: a flat list, or the list below gpu_data.
func entries(docs []any) []node {
	var list []node
	for _, doc := range docs {
		switch v := doc.(type) {
		case []any:
			for _, item := range v {
				if o, ok := item.(map[string]any); ok {
					list = append(list, entries([]any{o})...)
				}
			}
		case map[string]any:
			if below, ok := lookup(v, "gpu_data"); ok {
				list = append(list, entries([]any{below})...)
				continue
			}
			list = append(list, node{v})
		}
	}
	return list
}

// node is an object of a tool's answer.
type node struct{ object map[string]any }

// lookup finds a key; versions of the tool differ in its case.
func lookup(o map[string]any, key string) (any, bool) {
	if v, ok := o[key]; ok {
		return v, true
	}
	for k, v := range o {
		if strings.EqualFold(k, key) {
			return v, true
		}
	}
	return nil, false
}

// at follows a path of keys, "limit.ppt0.max_power_limit"; nil where there is nothing.
func (n node) at(path string) any {
	var v any = n.object
	for key := range strings.SplitSeq(path, ".") {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v, _ = lookup(o, key)
	}
	return v
}

// first gives the first path of several spellings of one thing that leads to something, and what stands there.
func (n node) first(paths ...string) (string, any) {
	for _, p := range paths {
		if v := n.at(p); v != nil {
			return p, v
		}
	}
	return paths[0], nil
}

// objects gives the objects of a list below the node.
func (n node) objects(path string) []node {
	list, _ := n.at(path).([]any)
	var out []node
	for _, item := range list {
		if o, ok := item.(map[string]any); ok {
			out = append(out, node{o})
		}
	}
	return out
}

// index is the number by which the tool calls a GPU, -1 without one.
func (n node) index() int {
	_, v := n.first("gpu", "gpu_id")
	i := -1
	if _, err := fmt.Sscan(fmt.Sprint(v), &i); err != nil || i < 0 {
		return -1
	}
	return i
}
