// Package dialect is how kinds of servers take a request: which optional fields they have, where these stand in the body, and the encoded
// body itself. It is a room of package load and sends nothing.
//
// To add a kind of server: one line in Dialects(), and its preset in package containers/engine. docs/engines.md holds the same table.
package dialect
