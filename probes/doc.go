// Package probes reads a machine: host → SUT, readiness checks over the SUT, telemetry samples.
//
// A Host is a root directory plus the ways to ask a running kernel (exec, uname, statfs), so that a captured tree is
// read exactly like a live machine. Parsing is apart from reading: parseX(bytes) is pure, ProbeX(host) reads. Every leaf
// of the SUT is a Fact: a value with its source, or the reason why there is none. A probe that fails or hangs costs its own
// facts and no others. Probing changes nothing on the machine.
//
// Its rooms are sut (the document), host (files, programs, captures), smbios and pci (formats), one for each group of probes (amd,
// nvidia, machine, storage, network, engines, power, klog, …), and check (readiness rules and drift). Others use the names of this package only.
//
// To add a probe: one file with ProbeX and parseX in the room it belongs to, and a line in probes() (probes.go). A check: a line in
// checks() (check/checks.go). A telemetry source: a line in Samplers (telemetry.go).
package probes
