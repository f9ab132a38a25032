// Package launch holds what a server is started with: what was asked for, agreed with this machine and its container engine before anything is
// created (Agree), and what was made of it, as the engine and the kernel tell it once it runs (Record). It is a room of package containers.
package launch
