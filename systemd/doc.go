// Package systemd holds what installs the daemon under systemd: assay.service, assay.sysusers, assay.tmpfiles, assay.env and config.yaml.
// There is no code in it, only tests that systemd accepts the files. README.md says where each one goes.
package systemd
