// Package intake takes the files of another client into the folder of the run that is made of them.
package intake
