package weights

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// longestHeader is the most that the format allows, in bytes.
const longestHeader = 100 << 20

// safetensors holds a file's header against its size: eight bytes with the header's length, the header in JSON, the tensors. It gives their names.
func safetensors(r io.Reader, size int64) (tensors []string, err error) {
	if size == 0 {
		return nil, fmt.Errorf("is empty")
	}
	var length uint64
	if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
		return nil, fmt.Errorf("is cut off: it has %d bytes", size)
	}
	if length < 2 || length > longestHeader {
		return nil, fmt.Errorf("is no safetensors file: its header would have %d bytes", length)
	}
	if int64(length)+8 > size {
		return nil, fmt.Errorf("is cut off: its header has %d bytes, the file %d", length, size)
	}
	var header map[string]struct {
		DataOffsets [2]int64 `json:"data_offsets"`
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if err := json.Unmarshal(b, &header); err != nil {
		return nil, fmt.Errorf("is no safetensors file: its header is no JSON")
	}
	end := int64(0)
	tensors = make([]string, 0, len(header))
	for name, tensor := range header {
		end = max(end, tensor.DataOffsets[1])
		if name != "__metadata__" {
			tensors = append(tensors, name)
		}
	}
	if whole := 8 + int64(length) + end; whole > size {
		return nil, fmt.Errorf("is cut off: it should have %d bytes and has %d", whole, size)
	} else if whole < size {
		return nil, fmt.Errorf("is too long: it should have %d bytes and has %d", whole, size)
	}
	return tensors, nil
}
