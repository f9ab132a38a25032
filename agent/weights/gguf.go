package weights

import (
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
)

// ggufFile looks at a file of llama.cpp and, when it is one of several, at the others. The first of them is the one to load.
func ggufFile(file string) (wrong []string) {
	dir, base := filepath.Split(file)
	part := regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.gguf$`).FindStringSubmatch(base)
	if part == nil {
		return look(file, gguf)
	}
	parts, err := strconv.Atoi(part[3])
	if err != nil || parts < 1 {
		return look(file, gguf)
	}
	for i := 1; i <= parts; i++ {
		wrong = append(wrong, look(filepath.Join(dir, fmt.Sprintf("%s-%05d-of-%s.gguf", part[1], i, part[3])), gguf)...)
	}
	return wrong
}

// gguf reads the beginning: four letters, the version of the format, the numbers of tensors and of keys.
func gguf(r io.Reader, _ int64) error {
	var head struct {
		Magic         [4]byte
		Version       uint32
		Tensors, Keys uint64
	}
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return fmt.Errorf("is cut off")
	}
	if string(head.Magic[:]) != "GGUF" {
		return fmt.Errorf("is no GGUF file: it begins with %q", head.Magic[:])
	}
	if version := head.Version; version == 0 || version > 0xffff {
		return fmt.Errorf("is of a byte order that this machine does not have, or damaged: version %d", version)
	}
	return nil
}
