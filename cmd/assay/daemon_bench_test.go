package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkDaemonStart is the time from the start of `assay serve` to the first answer of its API, on an empty data directory and on
// every following start. Budget: 150 ms.
func BenchmarkDaemonStart(b *testing.B) {
	p := newProgram(b)
	for b.Loop() {
		d := p.serve()
		d.call(http.MethodGet, "/healthz", "", http.StatusOK, nil)
		b.StopTimer()
		d.stop(syscall.SIGTERM)
		b.StartTimer()
	}
}

// BenchmarkDaemonIdle is what a daemon without work costs: resident memory and share of a core over ten seconds. Budgets: 40 MiB, 0.2 %.
func BenchmarkDaemonIdle(b *testing.B) {
	d := newProgram(b).serve()
	d.call(http.MethodGet, "/", "", http.StatusOK, nil)
	const span = 10 * time.Second
	for b.Loop() {
		before := cpuOf(b, d.cmd.Process.Pid)
		<-time.After(span)
		b.ReportMetric(100*(cpuOf(b, d.cmd.Process.Pid)-before).Seconds()/span.Seconds(), "%core")
		b.ReportMetric(rssOf(b, d.cmd.Process.Pid), "MiB")
	}
}

// cpuOf is the CPU time a process has used (proc_pid_stat(5): fields 14 and 15, in ticks of 10 ms).
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+2:]))
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// rssOf is the resident memory of a process in MiB.
func rssOf(b *testing.B, pid int) float64 {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(raw))[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}
