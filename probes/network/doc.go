// Package network reads network interfaces and the ports of host channel adapters. Parsers are apart from readers and pure.
package network
