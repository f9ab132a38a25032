package sim

import (
	"encoding/json"
	"math"
	"reflect"
)

// integer is a whole number of a request. Some clients write it as a float, and real servers take that: 48.0 is 48. 48.5 is none, as in vLLM.
type integer int

const tooLarge = 1 << 63

func (i *integer) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*int)(i)) == nil {
		return nil
	}
	var f float64
	if err := json.Unmarshal(raw, &f); err != nil || f != math.Trunc(f) || math.Abs(f) >= tooLarge {
		return &json.UnmarshalTypeError{Value: string(raw), Type: reflect.TypeFor[int]()}
	}
	*i = integer(f)
	return nil
}
