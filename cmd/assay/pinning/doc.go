// Package pinning finds what the images and files of a plan are now, so that a plan can name them by digest.
package pinning
