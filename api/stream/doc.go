// Package stream is the room of the API that writes server-sent events to a reader who may be slow or gone.
package stream
