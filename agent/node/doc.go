// Package node judges whether a machine takes runs: whether its accelerators gave back the memory of servers that have ended, and whether
// those it is known to have are still there. What was seen is compared with what is seen now; Keeper keeps it between runs, Wait looks until
// nothing is left. It is a room of package agent.
package node
