// Package field lists faults that people met where servers for inference are launched, and measured facts of real engines, each with the
// test that shows what holds here. It has tests alone: they hold the list against the tests that it names, and write docs/launch-faults.md.
package field
