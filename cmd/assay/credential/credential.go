package credential

import (
	"os"
	"path/filepath"
	"strings"
)

// directory is the variable by which systemd says where a service's credentials lie.
const directory = "CREDENTIALS_DIRECTORY"

// most is the most that is read of a credential.
const most = 1 << 20

// File is the path of a credential; "" when there is none of this name.
func File(getenv func(string) string, name string) string {
	dir := getenv(directory)
	if dir == "" || name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return ""
	}
	file := filepath.Join(dir, name)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return ""
	}
	return file
}

// First reads a name from its credential, where there is one, else from the environment.
func First(getenv func(string) string) func(name string) string {
	return func(name string) string {
		if file := File(getenv, name); file != "" {
			if b, err := os.ReadFile(file); err == nil {
				return strings.TrimRight(string(b), "\r\n")
			}
		}
		return getenv(name)
	}
}
