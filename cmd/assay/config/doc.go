// Package config reads the configuration file of the daemon.
package config
