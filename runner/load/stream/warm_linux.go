package stream

import "unsafe"

const cacheLine = 64 // bytes

// warm has the processor fetch the memory that reading these wires takes. Among thousands of streams none is in its caches when the
// next token comes: line after line that is a wait each, for all at once it is little more than one. What is read there is of no use, so
// that it may change meanwhile.
func warm(ready []*wire) (sum uint64) {
	for _, w := range ready {
		sum += touch(unsafe.Pointer(w), unsafe.Sizeof(*w))
		if x := w.reader.Load(); x != nil {
			sum += touch(unsafe.Pointer(x), unsafe.Sizeof(*x))
		}
	}
	return sum
}

// touch reads a byte of each line.
//
//go:norace
func touch(p unsafe.Pointer, size uintptr) (sum uint64) {
	for at := uintptr(0); at < size; at += cacheLine {
		sum += uint64(*(*byte)(unsafe.Add(p, at)))
	}
	return sum + uint64(*(*byte)(unsafe.Add(p, size-1)))
}
