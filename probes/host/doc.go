// Package host is the machine that is probed: its files, its programs and its kernel's answers, live or from a capture. A capture holds
// what was read, no more, and gives the same answers.
package host
