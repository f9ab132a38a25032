// Package imported makes runs of what other benchmark clients wrote: their requests become recordings, so that the same code makes the same
// figures of them, and what the tool printed itself stands beside those with the id of the metric that has the same formula (docs/clients.md).
//
// The files are read twice (room tool): once to learn when each point began and ended, once to write the recordings. Judge says whether a
// point counts: by the rules of any point, and by what its tool kept to itself.
package imported
