// Package power gives the machine's provisioned power, or says why it is open.
package power
