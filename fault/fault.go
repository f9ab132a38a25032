package fault

import (
	"errors"
	"fmt"
)

// Layer names the part of a run that failed (the `layer` of the contract's error object).
type Layer string

// The layers of the contract.
const (
	Plan      Layer = "plan"
	Preflight Layer = "preflight"
	Image     Layer = "image"
	Server    Layer = "server"
	Router    Layer = "router"
	Client    Layer = "client"
	Telemetry Layer = "telemetry"
	Store     Layer = "store"
	Archive   Layer = "archive"
)

// Fault is an error with its layer, a stable code ("image.not_found"), a sentence and a hint what to do.
type Fault struct {
	Layer Layer  `json:"layer"`
	Code  string `json:"code"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
	Cause error  `json:"-"`
}

// New makes a fault. Code is the part after the layer: New(Image, "not_found", …) has the code "image.not_found".
// Text is a formatted sentence; a %w in it becomes the cause, several of them all stay in the chain.
func New(layer Layer, code, hint, format string, args ...any) *Fault {
	err := fmt.Errorf(format, args...)
	cause := errors.Unwrap(err)
	if _, several := err.(interface{ Unwrap() []error }); several {
		cause = err
	}
	return &Fault{Layer: layer, Code: string(layer) + "." + code, Text: err.Error(), Hint: hint, Cause: cause}
}

// Error is the sentence with its code: "image digest not found in registry (image.not_found)".
func (f *Fault) Error() string { return f.Text + " (" + f.Code + ")" }

// Unwrap gives the cause, if any.
func (f *Fault) Unwrap() error { return f.Cause }

// Of finds the outermost fault in err's chain. An err without one becomes a fault of the given layer with the code
// "<layer>.failed", so that every error can be shown the same way. Of(nil) is nil.
func Of(err error, layer Layer) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return New(layer, "failed", "", "%w", err)
}
