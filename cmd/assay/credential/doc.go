// Package credential reads the credentials that systemd gives a service as files, in place of variables.
package credential
