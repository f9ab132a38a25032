// Package image makes sure that the image of a plan is the one that runs: it is found, pulled or loaded by digest, compared with what was
// pinned, and described. It is a room of package containers.
//
// An image has several digests: of its index, of its platform's manifest and of its configuration. Engines name it by one or the other,
// and one that was loaded from a file may have lost all but the last; each of the three pins the same content.
package image
