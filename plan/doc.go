// Package plan is the recipe of a run: what to start, with what load, under which checks.
//
// Bytes become a Plan in one way: Parse reads strict YAML (JSON is YAML), fills defaults and validates, and every error
// names line, column and the nearest right key. Canonical gives the one byte form of a plan, Hash its SHA-256: two
// plans that mean the same have the same hash. A Plan is plain data and never changes after Parse.
//
// To add a key: a field in the type it belongs to (plan.go), with its meaning beside it and its bounds and default in the
// tag. Parsing, overrides, the written forms, the schema and docs/plan.md follow from that. A default that depends on other
// keys goes to defaults.go, a rule between keys to the validate files; go test -update rewrites goldens and docs/plan.md.
package plan
