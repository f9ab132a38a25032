// Package note writes remarks into the identity of a run that was executed before. It is a room of package agent.
package note
