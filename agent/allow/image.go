package allow

import (
	"slices"
	"strings"
)

// image checks an image by its repository, its digest, or both.
func (c *check) image(at, ref string) {
	repository, digest, ok := parseImage(ref)
	if !ok {
		c.never("%s %q is not a plain name with a digest or tag", at, ref)
		return
	}
	if !slices.ContainsFunc(c.list.Images, func(pattern string) bool { return imageFits(pattern, repository, digest) }) {
		c.refuse("images", repository, "%s is of the repository %s", at, repository)
	}
}

// parseImage splits a reference into its repository, written out in full, and its digest, "" where it has a tag or nothing.
func parseImage(ref string) (repository, digest string, ok bool) {
	name, digest, _ := strings.Cut(ref, "@")
	if name == "" || strings.ContainsAny(digest, "@/") || strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r > '~' }) || strings.Contains(name, "//") || strings.Contains(name, "://") {
		return "", "", false
	}
	if slash, colon := strings.LastIndex(name, "/"), strings.LastIndex(name, ":"); colon > slash {
		name = name[:colon] // the tag
	}
	host, path, several := strings.Cut(name, "/")
	switch {
	case !several:
		host, path = "docker.io", "library/"+name
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		host, path = "docker.io", name
	}
	if host = strings.ToLower(host); host == "index.docker.io" || host == "registry-1.docker.io" {
		host = "docker.io"
	}
	if host == "docker.io" && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	if path == "" || slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "" || part == "." || part == ".." }) {
		return "", "", false
	}
	return host + "/" + path, digest, true
}

// imageFits tells whether a repository and digest are what a pattern of the list names.
func imageFits(pattern, repository, digest string) bool {
	if pattern == "*" {
		return true
	}
	if strings.HasPrefix(pattern, "sha256:") {
		return pattern == digest
	}
	if under, all := strings.CutSuffix(pattern, "/*"); all {
		return strings.HasPrefix(repository, fullName(under)+"/")
	}
	wanted, pinned, ok := parseImage(pattern)
	return ok && wanted == repository && (pinned == "" || pinned == digest)
}

// fullName writes the beginning of a repository's name in full: a registry, or a folder of one.
func fullName(under string) string {
	host, path, several := strings.Cut(under, "/")
	if !strings.ContainsAny(host, ".:") && host != "localhost" {
		return "docker.io/" + under
	}
	if !several {
		return strings.ToLower(host)
	}
	return strings.ToLower(host) + "/" + path
}
