// Package told shows what another client printed of a run beside what its own requests give.
package told
