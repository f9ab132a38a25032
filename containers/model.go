package containers

// ModelFolder is what of the host a container sees of a model: the file or folder itself, or the folder that holds all its parts.
func ModelFolder(host string) string {
	m, _ := modelMount(host)
	return m.Source
}
