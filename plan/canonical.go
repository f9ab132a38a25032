package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Canonical is the one byte form of a plan: JSON with sorted keys, defaults filled, durations in their shortest form, seeds as
// texts, no HTML escapes and no spaces. Parse reads it back to the same plan.
func (p Plan) Canonical() []byte {
	d := json.NewDecoder(bytes.NewReader(encode(p)))
	d.UseNumber() // numbers stay as they are written
	var tree any  // maps are written with sorted keys
	if err := d.Decode(&tree); err != nil {
		panic(fmt.Sprintf("plan: own JSON does not read back: %v", err))
	}
	return encode(tree)
}

// Hash is the hex SHA-256 of the canonical form.
func (p Plan) Hash() string {
	sum := sha256.Sum256(p.Canonical())
	return hex.EncodeToString(sum[:])
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("plan: a plan is not JSON: %v", err)) // Parse lets in only what JSON can write
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// quote writes a text as a JSON string, which is a YAML string too.
func quote(s string) string { return string(encode(s)) }
