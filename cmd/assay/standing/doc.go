// Package standing shows whether a machine takes runs: the command `assay node`.
package standing
