package redact

import (
	"fmt"
	"io"
)

// pieceBytes is how much of a stream is looked at in one piece.
const pieceBytes = 1 << 20

// pieces shows a stream piece by piece until look has seen enough. What is no longer than overlap bytes stands in one of them whole: each
// begins with so much of the end of the one before.
func pieces(in io.Reader, overlap int, look func(piece []byte) (more bool)) error {
	buf := make([]byte, max(pieceBytes, 2*overlap))
	for kept := 0; ; {
		n, err := io.ReadFull(in, buf[kept:])
		if !look(buf[:kept+n]) || err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for secrets: %w", err)
		}
		kept = copy(buf, buf[len(buf)-overlap:])
	}
}
