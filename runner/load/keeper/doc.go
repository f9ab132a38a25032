// Package keeper hands the ended requests of a load on, beside it. It is a room of package load.
package keeper
