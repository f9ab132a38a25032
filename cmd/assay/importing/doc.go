// Package importing is what `assay import` reads: the results of another client, and the machine that they were measured on.
package importing
