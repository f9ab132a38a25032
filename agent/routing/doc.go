// Package routing looks at a router before a point's load goes through it: whether sessions stay on one server, how they are spread, what it adds to
// the time to the first byte, and whether it takes large bodies and all the connections. What is found is data; Judge makes reasons of it.
package routing
