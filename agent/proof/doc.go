// Package proof holds what a plan says of its model and its server against what is found: files on the disk, and the server's own words.
package proof
