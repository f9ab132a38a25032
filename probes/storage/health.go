package storage

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"reflect"
	"strings"
	"time"

	"assay/probes/host"
	"assay/probes/sut"
)

// healthLimit bounds the questions to all drives together; one that hangs loses its own answer.
const healthLimit = 1500 * time.Millisecond

// readHealth asks every drive how it is. smartctl is told to print neither serial number nor name, and not to wake a disk that rests.
func readHealth(ctx context.Context, h host.Host, dirs []string, drives []sut.Drive) {
	var commands [][]string
	for _, dir := range dirs {
		commands = append(commands, []string{"smartctl", "--json", "-H", "-A", "-n", "standby", "/dev/" + path.Base(dir)})
	}
	answers := h.RunSeveral(ctx, healthLimit, commands...)
	for i, dir := range dirs {
		health, err := sut.Health{}, answers[i].Err
		if err == nil {
			health, err = parseSmartctl(answers[i].Stdout)
		}
		if err != nil {
			sut.GiveReason(reflect.ValueOf(&health).Elem(), err.Error())
		}
		health.State = sut.NA[string]("only NVMe controllers tell their state")
		if c := controller(h, dir); c != "" {
			health.State = host.TextFact(h, c+"/state")
		}
		drives[i].Health = health
	}
}

// smart is what is taken of smartctl's JSON.
type smart struct {
	Smartctl struct {
		Messages []struct{ String, Severity string }
	}
	Status *struct{ Passed *bool } `json:"smart_status"`
	NVMe   *struct {
		CriticalWarning *int   `json:"critical_warning"`
		PercentageUsed  *int   `json:"percentage_used"`
		MediaErrors     *int64 `json:"media_errors"`
	} `json:"nvme_smart_health_information_log"`
}

// parseSmartctl reads `smartctl --json`.
func parseSmartctl(b []byte) (sut.Health, error) {
	var doc smart
	if i := strings.IndexByte(string(b), '{'); i > 0 {
		b = b[i:]
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return sut.Health{}, errors.New("smartctl's output cannot be read")
	}
	if doc.Status == nil && doc.NVMe == nil {
		return sut.Health{}, errors.New(refusal(doc))
	}
	const source, ata = "smartctl", "only NVMe drives keep this log"
	health := sut.Health{
		Passed:          sut.Unknown[bool]("smartctl gives no verdict"),
		CriticalWarning: sut.NA[int](ata), UsedPct: sut.NA[int](ata), MediaErrors: sut.NA[int64](ata),
	}
	if doc.Status != nil && doc.Status.Passed != nil {
		health.Passed = sut.Known(*doc.Status.Passed, source)
	}
	if n := doc.NVMe; n != nil {
		health.CriticalWarning = given(n.CriticalWarning, 0, 255)
		health.UsedPct = given(n.PercentageUsed, 0, 255)
		health.MediaErrors = given(n.MediaErrors, 0, 1<<62)
	}
	return health, nil
}

// given is a number that the log may lack, or that cannot be one.
func given[T int | int64](n *T, least, most T) sut.Fact[T] {
	if n == nil || *n < least || *n > most {
		return sut.Unknown[T]("smartctl's log does not hold it")
	}
	return sut.Known(*n, "smartctl")
}

// refusal says why smartctl could not look.
func refusal(doc smart) string {
	for _, m := range doc.Smartctl.Messages {
		if strings.Contains(m.String, "Permission denied") {
			return "needs root (smartctl)"
		}
		if strings.Contains(m.String, "STANDBY") {
			return "the disk rests, and was not woken to be asked"
		}
	}
	if len(doc.Smartctl.Messages) > 0 {
		return "smartctl: " + host.Anonymous(doc.Smartctl.Messages[0].String)
	}
	return "smartctl tells nothing of this drive's health"
}
