// Package check judges a SUT: readiness rules, each with its evidence, and what changed between two looks at one machine. It reads
// nothing of the machine itself.
package check
