// Package redfish reads what the machine's BMC tells over Redfish: its own firmware, the power supplies and what they draw, and the
// board's name, BIOS and memory as a second source. Answers are fetched first and read afterwards, so a capture is read the same way.
package redfish
