// Package health is how the client itself fared in a window: what its process had used and done as the window opened, and as it ended. It is a
// room of package load.
package health
