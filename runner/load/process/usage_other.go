//go:build !linux

package process

import "time"

func CPUTime() time.Duration { return 0 }

func CPUWait() time.Duration { return 0 }

func OpenFiles() int { return 0 }

func Resident() int64 { return heldBytes() }

func fileLimit(int) int { return 0 }
