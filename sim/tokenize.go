package sim

import (
	"io"
	"net/http"
)

// tokenize answers vLLM's /tokenize: the tokens of a prompt, or of the messages of a chat with what the template adds.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		writeError(w, badRequest("body", "read body: %v", err))
		return
	}
	b, refused := decode(raw, s.cfg.Refuse)
	if refused == nil && !b.means(s.cfg.Model) {
		refused = b.check(s.cfg)
	}
	c := newChain(s.cfg.BlockTokens)
	c.keep = true
	if refused == nil {
		refused = b.fill(c, s.cfg, s.tokens, len(b.Messages) > 0)
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"count": c.tokens, "max_model_len": s.cfg.ContextLen, "tokens": c.ids, "token_strs": nil})
}
