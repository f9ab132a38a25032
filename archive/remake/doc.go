// Package remake makes the recordings of points that other clients measured again, of the files which those wrote, so that nobody can put
// another recording in the place of one.
package remake
