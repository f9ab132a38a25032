// Package inside reads what a running server stands on: the versions of the libraries and tools in its image, or beside its program on the
// host. It reads files and the metadata of Python packages; nothing of the server is imported or started, no accelerator is touched.
package inside
