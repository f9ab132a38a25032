// Package runner holds the benchmark clients behind one seam: Client runs a Job against a base URL, writes the recording and
// says how it fared itself. Verdict judges a point from its summary, its shape and the client's health.
//
// A client that is another program is told what to measure by room external, and started by a function that the caller hands in: runner
// knows no Docker. Its Measurement names the files it left, of which package imported makes the recording.
package runner
