// Package stop turns the end of a server or router into what a result tells of it.
package stop
