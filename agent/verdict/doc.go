// Package verdict judges a run by its points and by how its servers ended.
package verdict
