//go:build !linux

package load

import "time"

func cpuTime() time.Duration { return 0 }

func cpuWait() time.Duration { return 0 }

func openFiles() int { return 0 }

func residentBytes() int64 { return heldBytes() }

func fileLimit(int) int { return 0 }
