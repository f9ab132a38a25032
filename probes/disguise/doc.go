// Package disguise takes out of texts what names a machine, its parts or its owner, by the forms that such names have: the machine's own
// name in its spellings, serial numbers that a BMC tells, names of disks, keys.
package disguise
