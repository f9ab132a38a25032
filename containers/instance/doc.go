// Package instance is what all of containers shares: a Spec says what to start, a Runtime starts it, an Instance is what runs, its Identity
// what that is, and its Exit how it ended.
package instance
