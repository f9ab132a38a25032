package nvidia

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// parseXML reads `nvidia-smi -q -x`, of every version of its document type. A report that is cut off is an error, never a smaller machine.
func parseXML(b []byte) (*node, error) {
	if i := xmlStart(b); i > 0 {
		b = b[i:] // warnings come first
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	root := &node{}
	stack := []*node{root}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("nvidia-smi's XML is broken: %w", err)
		}
		top := stack[len(stack)-1]
		switch t := tok.(type) {
		case xml.StartElement:
			if len(stack) > maxDepth {
				return nil, errors.New("nvidia-smi's XML is nested too deeply")
			}
			kid := top.add(t.Name.Local, "")
			for _, a := range t.Attr {
				kid.add("@"+a.Name.Local, a.Value)
			}
			stack = append(stack, kid)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text = strings.TrimSpace(top.text + string(t))
		}
	}
	log := root.kid("nvidia_smi_log")
	if log == nil {
		return nil, errors.New("nvidia-smi printed no nvidia_smi_log element")
	}
	_, err := log.announced()
	return log, err
}

// xmlStart finds the document behind lines that were printed before it, which may hold a "<" of their own.
func xmlStart(b []byte) int {
	for _, mark := range []string{"<?xml", "<nvidia_smi_log"} {
		if i := bytes.Index(b, []byte(mark)); i >= 0 {
			return i
		}
	}
	return 0
}
