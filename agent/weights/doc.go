// Package weights looks at a model's files before a server is started: whether they are all there and whole as far as their beginnings tell, whether
// they are of the revision that the plan means, whether what the server's arguments refer to can be found, and what their digests are. It is a
// room of package agent.
package weights
