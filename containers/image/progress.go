package image

import (
	"fmt"
	"strings"
)

// Progress is how far an image is on its way into the engine.
type Progress struct {
	Layer       string // short name of the layer that is told about; "" for the whole
	Status      string // "downloading, 3 of 12 layers", "loading", "already present", …
	Done, Total int64  // bytes of the whole image that are to be sent; Total 0 when not known
}

// tracker adds the engine's words on each layer up to how far the whole is.
type tracker struct {
	tell    func(Progress)
	have    int              // layers that the engine has
	total   int64            // of the layers that are fetched, from the manifest; 0: what was told so far
	sizes   map[string]int64 // of each layer that is fetched, by the short name that the engine gives it
	got     map[string]int64
	done    map[string]bool // unpacked
	trouble string          // layer that is tried again
	last    Progress
}

// shortDigest is the engine's name of a layer: twelve hex digits of its digest.
func shortDigest(digest string) string {
	_, hex, _ := strings.Cut(digest, ":")
	return hex[:min(12, len(hex))]
}

// track follows the pull of the layers that the engine does not have; without a manifest it learns sizes as the engine tells them.
func track(m manifest, have int, tell func(Progress)) *tracker {
	t := &tracker{tell: tell, have: have, sizes: map[string]int64{}, got: map[string]int64{}, done: map[string]bool{}}
	for _, b := range m.blobs[min(have, len(m.blobs)):] {
		t.sizes[shortDigest(b.Digest.String())] = b.Size
	}
	t.total = m.bytes(have)
	return t
}

// message takes one of the engine's.
func (t *tracker) message(m message) {
	switch {
	case strings.HasPrefix(m.Status, "Pulling from"): // of the image, whose name stands in place of a layer's
		return
	case m.Status == "Downloading":
		t.size(m.ID, m.Progress.Total)
		t.got[m.ID] = max(0, m.Progress.Current)
	case m.Status == "Download complete" || m.Status == "Verifying Checksum":
		t.got[m.ID] = t.sizes[m.ID]
	case m.Status == "Already exists" && t.have > 0: // counted already
		return
	case m.Status == "Already exists", m.Status == "Pull complete":
		t.size(m.ID, 0)
		t.got[m.ID], t.done[m.ID] = t.sizes[m.ID], true
	case m.Status == "Pulling fs layer":
		t.size(m.ID, 0)
	case strings.HasPrefix(m.Status, "Retrying"):
		t.trouble = m.ID
		t.show(Progress{Layer: m.ID, Status: "layer " + m.ID + " is tried again"})
		return
	}
	if t.trouble == m.ID && t.got[m.ID] > 0 && m.Status == "Download complete" {
		t.trouble = ""
	}
	if m.ID != "" && len(t.sizes) > 0 {
		t.show(Progress{Layer: m.ID, Status: t.status()})
	}
}

// size notes how large a layer is; the manifest's word goes first.
func (t *tracker) size(layer string, bytes int64) {
	if t.total == 0 {
		t.sizes[layer] = max(bytes, t.sizes[layer])
	}
}

// status says what the engine does now: it fetches several layers at once and unpacks each after the one below it.
func (t *tracker) status() string {
	word := "downloading"
	if sum(t.got) >= t.whole() && t.whole() > 0 {
		word = "unpacking"
	}
	return fmt.Sprintf("%s, %d of %d layers", word, t.have+len(t.done), t.have+len(t.sizes))
}

func (t *tracker) whole() int64 { return max(t.total, sum(t.sizes)) }

// show tells what is news: another status, or a two-hundredth of the whole more.
func (t *tracker) show(p Progress) {
	p.Done, p.Total = sum(t.got), t.whole()
	if p.Status == t.last.Status && p.Done-t.last.Done < p.Total/200+1 {
		return
	}
	t.last = p
	t.tell(p)
}

func sum(of map[string]int64) int64 {
	var n int64
	for _, v := range of {
		n += v
	}
	return n
}
