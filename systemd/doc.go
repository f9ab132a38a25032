// Package systemd holds what installs the daemon under systemd: assay.service, assay.sysusers, assay.tmpfiles and assay.env.
// There is no code in it, only tests that systemd accepts the files. README.md says where each one goes.
package systemd
