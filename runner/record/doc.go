// Package record is what a client saw of one point: every request, every token event, and the file that keeps them.
//
// Times are microseconds of one monotonic clock since Header.EpochUS (UTC); Never stands for an instant that did not come.
// A recording file is a header block and one block per request, each with its length and CRC-32C, so that a torn tail is
// found and all earlier blocks stay readable (docs/recording.md). Scan reads it request by request in bounded memory. Every summary is a pure function of a recording.
package record
