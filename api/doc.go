// Package api is the HTTP face of the daemon: REST under /api/v1 (openapi.yaml), live events, Prometheus metrics and the page.
//
// To add a route: the handler in its noun's file, a line in routes.go, its entry in openapi.yaml (a test compares the two).
package api
