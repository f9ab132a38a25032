package sim

import "testing"

// FuzzParseFault: a fault that is read is one the engine knows, with numbers it can use.
func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"cut@5", "stall@3:2s/10", "reject:1s#4", "status=503", "die:2s/10#10", "cut@@", "=", "stall", "cut@-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := ParseFault(text)
		if err != nil {
			return
		}
		if fault.validate() != nil || fault.AtToken < 0 || fault.Delay < 0 || fault.First < 0 || fault.Every < 0 {
			t.Errorf("%q: %+v", text, fault)
		}
		for n := range 3 {
			fault.hits(n)
		}
	})
}
