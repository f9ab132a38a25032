//go:build !linux

package ceiling

import (
	"os/exec"
	"runtime"
	"time"
)

func used() time.Duration { return 0 }

func cores() []int { return nil }

func startOn(cmd *exec.Cmd, _ []int) error { return cmd.Start() }

func kernel() string { return runtime.GOOS }

func processor() string { return "" }
