// Package salt makes what stands before a prompt, so that a prefix cache knows no more of it than is wanted: a mark of each request, of each
// session, or none. It is a room of package load.
package salt
