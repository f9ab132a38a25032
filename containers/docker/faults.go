package docker

import (
	"strings"

	"assay/containers/instance"
	"assay/fault"
)

// createFault says why an engine does not create a container.
func createFault(s instance.Spec, err error) error {
	code, hint := "create_failed", "check mounts and options of the "+s.Role
	switch text := err.Error(); {
	case strings.Contains(text, "Requested CPUs are not available"):
		code, hint = "cpus_unavailable", "correct server.cpus: the engine's machine, or the part of it that the engine may use, does not have them"
	case strings.Contains(text, "Requested memory nodes are not available"):
		code, hint = "numa_unavailable", "correct server.numa: the engine's machine, or the part of it that the engine may use, does not have them"
	}
	return fault.New(s.Layer(), code, hint, "the container of the %s could not be created: %w", s.Role, err)
}

// startFault says what a start failed for. What the engine cannot give is known before, unless its own processes are not seen from here.
func startFault(s instance.Spec, err error) error {
	code, hint := "start_failed", "look at the engine's log"
	switch text := err.Error(); {
	case strings.Contains(text, "error setting rlimit"), strings.Contains(text, "setrlimit"), strings.Contains(text, "RLIMIT_"): // runc, crun
		code, hint = "ulimit_unavailable", "the engine may not raise a limit that far: ask for less in server.ulimits (memlock, nofile, nproc, stack), or raise it in the unit of its service (LimitMEMLOCK=, LimitNOFILE=); where the text names another limit, it is the engine's own default (podman: default_ulimits in containers.conf)"
	case strings.Contains(text, "unable to apply caps"):
		code, hint = "capability_unavailable", "the engine lacks what server.privileged or server.capabilities asks for"
	case s.GPUs != "" && s.GPUs != "none":
		hint = "check that the engine gives GPUs to containers: the NVIDIA container toolkit, or the AMD driver and its device files"
	}
	return fault.New(s.Layer(), code, hint, "the container of the %s did not start: %w", s.Role, err)
}
