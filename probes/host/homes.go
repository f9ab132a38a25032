package host

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// homePath finds the folders that are named after a person.
func homePath() *regexp.Regexp {
	return regexp.MustCompile(`(/(?:home|media|[Uu]sers)/)([^/\s"'<>,:;]+)`)
}

// homes gives a function that puts user1, user2, … in place of the names of people in the paths of what was read.
func (r *recording) homes() func(string) string {
	path, names := homePath(), map[string]string{}
	look := func(s string) {
		for _, m := range path.FindAllStringSubmatch(s, -1) {
			names[m[2]] = ""
		}
	}
	for name := range r.dirs {
		look(name)
	}
	for name := range r.failed {
		look(name)
	}
	for name, b := range r.files {
		look(name)
		look(string(b))
	}
	for name, target := range r.links {
		look(name)
		look(target)
	}
	for mount := range r.statfs {
		look(escaped(mount))
	}
	for _, c := range r.commands {
		look(string(c.out.Stdout))
		look(string(c.out.Stderr))
	}
	number(names)
	return func(s string) string {
		return path.ReplaceAllStringFunc(s, func(found string) string {
			m := path.FindStringSubmatch(found)
			return m[1] + cmp.Or(names[m[2]], "user") // what is not known held something that was cut
		})
	}
}

// number gives each name its user<n>, in the order of the names. One that has such a name already keeps it.
func number(names map[string]string) {
	taken, n := regexp.MustCompile(`^user\d*$`), 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if taken.MatchString(name) {
			names[name] = name
			continue
		}
		for next := true; next; _, next = names[fmt.Sprint("user", n)] {
			n++
		}
		names[name] = fmt.Sprint("user", n)
	}
}

// escaped writes a mount point as mountinfo does, where a space ends a path.
func escaped(mount string) string { return strings.ReplaceAll(mount, " ", `\040`) }

func unescaped(mount string) string { return strings.ReplaceAll(mount, `\040`, " ") }
