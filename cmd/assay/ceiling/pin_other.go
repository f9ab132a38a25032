//go:build !linux

package ceiling

import (
	"os/exec"
	"runtime"
)

func cores() []int { return nil }

func startOn(cmd *exec.Cmd, _ []int) error { return cmd.Start() }

func kernel() string { return runtime.GOOS }

func processor() string { return "" }
