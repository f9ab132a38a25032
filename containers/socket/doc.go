// Package socket finds where the container engine of this machine listens. It is a room of package containers.
package socket
