package power

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"assay/probes/host"
	"assay/probes/sut"
)

// ipmiLimit bounds one command; a BMC that is busy answers in a second, one that hangs never.
const ipmiLimit = 4 * time.Second

// ipmi is what the BMC tells over IPMI.
type ipmi struct {
	bmc      sut.Fact[string]
	inputW   sut.Fact[float64]
	limitW   sut.Fact[float64]
	supplies sut.List[sut.PowerSupply]
}

// readIPMI asks the BMC through the kernel's device. One command that hangs ends the asking: the next would too.
func readIPMI(ctx context.Context, h host.Host) ipmi {
	if h.Absent("/dev/ipmi0") && h.Absent("/dev/ipmi/0") {
		return noIPMI("there is no /dev/ipmi0")
	}
	info, err := askIPMI(ctx, h, "mc", "info")
	if err != nil {
		return noIPMI(err.Error())
	}
	i := noIPMI("ipmitool was not asked")
	i.bmc = parseMC(info)
	i.inputW = dcmi(ctx, h, "reading", parseDCMI)
	i.limitW = dcmi(ctx, h, "get_limit", parseLimit)
	if out, err := askIPMI(ctx, h, "sdr", "type", "Power Supply"); err != nil {
		i.supplies.Unknown = err.Error()
	} else {
		i.supplies = parseSDR(out)
	}
	return i
}

func noIPMI(why string) ipmi {
	return ipmi{bmc: sut.Unknown[string]("%s", why), inputW: sut.Unknown[float64]("%s", why), limitW: sut.Unknown[float64]("%s", why), supplies: sut.List[sut.PowerSupply]{Unknown: why}}
}

// dcmi asks for one number of the data centre interface.
func dcmi(ctx context.Context, h host.Host, what string, parse func(string) sut.Fact[float64]) sut.Fact[float64] {
	out, err := askIPMI(ctx, h, "dcmi", "power", what)
	if err != nil {
		return sut.Unknown[float64]("%s", err)
	}
	return parse(out)
}

// askIPMI runs one command of ipmitool.
func askIPMI(ctx context.Context, h host.Host, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, ipmiLimit)
	defer cancel()
	out, err := h.Run(ctx, append([]string{"ipmitool"}, args...)...)
	name := "ipmitool " + strings.Join(args, " ")
	switch {
	case errors.Is(err, host.ErrNotFound):
		return "", errors.New("ipmitool is not installed")
	case err != nil:
		return "", err
	case out.Exit != 0 && strings.Contains(string(out.Stderr), "Could not open device"):
		return "", errors.New("needs root (ipmitool)")
	case out.Exit != 0:
		return "", fmt.Errorf("%s fails (exit %d)", name, out.Exit)
	}
	return string(out.Stdout), nil
}

// parseMC names the BMC by its maker and firmware.
func parseMC(text string) sut.Fact[string] {
	values := host.KeyValues(text, ":")
	version := values["Firmware Revision"]
	if version == "" {
		return sut.Unknown[string]("ipmitool mc info prints no Firmware Revision")
	}
	if maker := values["Manufacturer Name"]; maker != "" && !strings.HasPrefix(maker, "Unknown") {
		version = maker + " " + version
	}
	return sut.Known(version, "ipmitool mc info")
}

// parseDCMI reads what is drawn now. A reading that is not activated stays at its last value.
func parseDCMI(text string) sut.Fact[float64] {
	values := host.KeyValues(text, ":")
	const key = "Instantaneous power reading"
	watts, err := dcmiWatts(values[key])
	if err != nil {
		return sut.Unknown[float64]("ipmitool dcmi power reading: %s reads %q", key, values[key])
	}
	if state := values["Power reading state is"]; state != "" && state != "activated" {
		return sut.Unknown[float64]("ipmitool dcmi power reading is %s", state)
	}
	return sut.Known(watts, "ipmitool dcmi power reading")
}

// dcmiWatts reads "429 Watts".
func dcmiWatts(s string) (float64, error) {
	watts, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "Watts")), 64)
	if err != nil || !(watts > 0 && watts <= 1e6) {
		return 0, sut.ErrNoValue
	}
	return watts, nil
}

// parseLimit reads the limit that the BMC holds the machine to. One that is not active is none.
func parseLimit(text string) sut.Fact[float64] {
	const source = "ipmitool dcmi power get_limit"
	values := host.KeyValues(text, ":")
	if state := values["Current Limit State"]; state != "Power Limit Active" {
		return sut.NA[float64](fmt.Sprintf("no limit is set (%s: %q)", source, state))
	}
	watts, err := dcmiWatts(values["Power Limit"])
	if err != nil {
		return sut.Unknown[float64]("%s: Power Limit reads %q", source, values["Power Limit"])
	}
	return sut.Known(watts, source)
}

// parseSDR reads the sensors of the supplies: "PS1 Status | C8h | ok | 10.1 | Presence detected". The ones that are there count.
func parseSDR(text string) sut.List[sut.PowerSupply] {
	list := sut.List[sut.PowerSupply]{}
	const source, silent = "ipmitool sdr type Power Supply", "IPMI does not tell"
	present, fails := regexp.MustCompile(`(?i)presence detected`), regexp.MustCompile(`(?i)fail|lost|error`)
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !present.MatchString(cells[4]) {
			continue
		}
		health := "OK"
		if fails.MatchString(cells[4]) || strings.TrimSpace(cells[2]) != "ok" {
			health = "Critical"
		}
		list.Items = append(list.Items, sut.PowerSupply{
			Name: sut.Known(strings.TrimSpace(cells[0]), source), Model: sut.Unknown[string](silent), CapacityW: sut.Unknown[float64](silent),
			Firmware: sut.Unknown[string](silent), State: sut.Unknown[string](silent), Health: sut.Known(health, source),
		})
	}
	if len(list.Items) == 0 {
		list.Unknown = source + " names none that is present"
	}
	return list
}

// fill puts in what Redfish did not tell.
func (i ipmi) fill(s *sut.SUT) {
	s.System.BMC, s.Power.InputW, s.Power.LimitW = fallBack(s.System.BMC, i.bmc), fallBack(s.Power.InputW, i.inputW), fallBack(s.Power.LimitW, i.limitW)
	if s.Power.Supplies.Unknown == "" {
		return
	}
	if i.supplies.Unknown != "" {
		s.Power.Supplies.Unknown += "; " + i.supplies.Unknown
		return
	}
	s.Power.Supplies = i.supplies
}

// readMeter reads the meter that firmware shows to the kernel.
func readMeter(h host.Host) sut.Fact[float64] {
	for _, dir := range h.Match("/sys/class/hwmon", "hwmon*") {
		if name, err := h.Text(dir + "/name"); err == nil && name == "power_meter" {
			return sut.Convert(host.IntFact[int64](h, dir+"/power1_average"), func(uw int64) (float64, error) {
				if uw <= 0 {
					return 0, sut.ErrNoValue
				}
				return float64(uw) / 1e6, nil
			})
		}
	}
	return sut.Unknown[float64]("/sys/class/hwmon has no power_meter")
}
