// Package wording is the room of the API that writes values for the page: instants, lengths of time, figures, states and hashes.
package wording
