// Package chunk reads what one event of a stream says: the JSON text of a chat or completions chunk, in one pass and without allocation.
// It is a room of package load and knows neither connections nor time.
package chunk
