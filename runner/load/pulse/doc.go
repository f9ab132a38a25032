// Package pulse tells whether the streams of a decode cell get their tokens at an even rate. It is a room of package load.
package pulse
