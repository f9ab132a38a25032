// Package field holds tests alone: each fault that benchmark clients are known for, sent at our own client by a scripted
// server over a real socket, and held against what the server itself logged.
//
// A test's name carries the fault's public id. index_test.go lists every id with its test, or with the reason why it
// cannot apply here; docs/field-faults.md is written from that list.
package field
