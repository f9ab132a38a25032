// Package sut is the document about the system under test: facts with their sources, and the lists and objects made of them.
package sut
