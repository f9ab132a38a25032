// Package plan is the recipe of a run: what to start, with what load, under which checks.
//
// Bytes become a Plan in one way: Parse reads strict YAML (JSON is YAML), fills defaults and validates, and every error
// names line, column and the nearest right key. Canonical gives the one byte form of a plan, Hash its SHA-256: two
// plans that mean the same have the same hash. A Plan is plain data and never changes after Parse.
//
// To add a key: a field in the type it belongs to, its default in defaults.go, its rule in validate.go, and a line in
// docs/plan.md (generated from the types' comments; a test compares).
package plan
