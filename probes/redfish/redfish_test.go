package redfish

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/smbios"
)

// fixtures is the folder of public captures that lies beside a checkout; tests that need it are skipped without it.
const fixtures = "../../../shared/fixtures/system/redfish-telegraf"

// capture makes a capture of files and opens it.
func capture(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	dir := t.TempDir()
	files["proc/cmdline"] = "quiet"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, done, err := host.FromCapture(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done() })
	return h
}

// public gives the answers of a maker's BMC, laid out as three kinds of capture have them.
func public(t *testing.T, resources map[string]string) []map[string]string {
	t.Helper()
	layouts := []map[string]string{{}, {}, {}}
	for resource, file := range resources {
		b, err := os.ReadFile(filepath.Join(fixtures, file))
		if err != nil {
			t.Skipf("no public captures here: %v", err)
		}
		layouts[0]["redfish/v1/"+resource+"/index.json"] = string(b)
		layouts[1]["redfish/v1/"+resource+".json"] = string(b)
	}
	for name, text := range layouts[0] { // an answer that no other lies below
		layouts[2][name] = text
	}
	for resource := range resources {
		if strings.HasSuffix(resource, "/Power") || strings.HasPrefix(resource, "Systems/") {
			text := layouts[2]["redfish/v1/"+resource+"/index.json"]
			delete(layouts[2], "redfish/v1/"+resource+"/index.json")
			layouts[2]["redfish/v1/"+resource] = text
		}
	}
	return layouts
}

func TestPublicDell(t *testing.T) {
	const chassis = "Chassis/System.Embedded.1"
	for _, files := range public(t, map[string]string{
		chassis: "dell_chassis.json", chassis + "/Power": "dell_power.json", chassis + "/Thermal": "dell_thermal.json", "Systems/System.Embedded.1": "dell_systems.json",
	}) {
		r, err := Read(context.Background(), capture(t, files))
		if err != nil {
			t.Fatal(err)
		}
		if r.Vendor.Value != "Dell Inc." || r.Product.Value != "PowerEdge R640" || r.BIOS.Value != "2.3.10" || r.InstalledBytes.Unknown != "/redfish/v1/Systems/System.Embedded.1 MemorySummary.TotalSystemMemoryGiB is 476.837376, which no DIMMs add up to" {
			t.Errorf("%+v", r)
		}
		p := r.Power
		if p.InputW.Value != 429 || p.CapacityW.Value != 1628 || p.SuppliesW.Value != 750 || len(p.Supplies.Items) != 1 {
			t.Errorf("%+v", p)
		}
		if p.LimitW.IsKnown() || !strings.Contains(p.LimitW.Unknown, "348 W, below the 429 W") {
			t.Errorf("a limit below what is drawn is in force: %+v", p.LimitW)
		}
		if s := p.Supplies.Items[0]; s.CapacityW.Value != 750 || s.Model.Value != "PWR SPLY,750W,RDNT,ARTESYN" || s.Firmware.Value != "00.1B.53" || s.Health.Value != "OK" {
			t.Errorf("%+v", s)
		}
	}
}

func TestPublicHPE(t *testing.T) {
	for _, files := range public(t, map[string]string{"Chassis/1": "hp_chassis.json", "Chassis/1/Power": "hp_power.json", "Systems/1": "hp_systems.json"}) {
		r, err := Read(context.Background(), capture(t, files))
		if err != nil {
			t.Fatal(err)
		}
		p := r.Power
		if p.InputW.Value != 221 || p.CapacityW.Value != 1600 || p.SuppliesW.Value != 1600 || len(p.Supplies.Items) != 2 || p.Redundancy.Value != "Failover, 2 of 2 needed" {
			t.Errorf("%+v", p)
		}
		if r.Product.Value != "ProLiant DL360 Gen10" || r.BIOS.Value != "U32 v2.10 (05/21/2019)" || r.InstalledBytes.Value != 384<<30 {
			t.Errorf("%+v", r)
		}
	}
}

// newer is the tree of a service that has a resource for each supply.
func newer() map[string]string {
	return map[string]string{
		"":                          `{"Chassis":{"@odata.id":"/redfish/v1/Chassis"},"Managers":{"@odata.id":"/redfish/v1/Managers"},"Systems":{"@odata.id":"/redfish/v1/Systems"}}`,
		"/Chassis":                  `{"Members":[{"@odata.id":"/redfish/v1/Chassis/a"}]}`,
		"/Chassis/a":                `{"@odata.type":"#Chassis.v1_20_0.Chassis","PowerSubsystem":{"@odata.id":"/redfish/v1/Chassis/a/PowerSubsystem"},"EnvironmentMetrics":{"@odata.id":"/redfish/v1/Chassis/a/EnvironmentMetrics"}}`,
		"/Chassis/a/PowerSubsystem": `{"@odata.type":"#PowerSubsystem.v1_1_0.PowerSubsystem","CapacityWatts":12000,"PowerSupplies":{"@odata.id":"/redfish/v1/Chassis/a/PowerSubsystem/PowerSupplies"},"PowerSupplyRedundancy":[{"RedundancyType":"NPlusM","MinNeededInGroup":3,"RedundancyGroup":[{},{},{},{}]}]}`,
		"/Chassis/a/PowerSubsystem/PowerSupplies":   `{"Members":[{"@odata.id":"/redfish/v1/Chassis/a/PowerSubsystem/PowerSupplies/0"},{"@odata.id":"/redfish/v1/Chassis/a/PowerSubsystem/PowerSupplies/1"}]}`,
		"/Chassis/a/PowerSubsystem/PowerSupplies/0": `{"@odata.type":"#PowerSupply.v1_5_0.PowerSupply","PowerCapacityWatts":3000,"Model":"P3000","SerialNumber":"SECRET1","Status":{"State":"Enabled","Health":"OK"}}`,
		"/Chassis/a/PowerSubsystem/PowerSupplies/1": `{"@odata.type":"#PowerSupply.v1_5_0.PowerSupply","PowerCapacityWatts":3000,"Status":{"State":"Absent"}}`,
		"/Chassis/a/EnvironmentMetrics":             `{"@odata.type":"#EnvironmentMetrics.v1_3_0.EnvironmentMetrics","PowerWatts":{"Reading":5120.5},"PowerLimitWatts":{"SetPoint":9000,"ControlMode":"Disabled"}}`,
		"/Managers":                                 `{"Members":[{"@odata.id":"/redfish/v1/Managers/bmc"},{"@odata.id":"//evil.example/redfish/v1/x"},{"@odata.id":"/redfish/v1/../../secret"}]}`,
		"/Managers/bmc":                             `{"@odata.type":"#Manager.v1_9_0.Manager","ManagerType":"BMC","FirmwareVersion":"2.14.0","Model":"OpenBMC","UUID":"00000000-0000-4000-8000-00000000beef"}`,
		"/Systems":                                  `{"Members":[]}`,
	}
}

// machine is a host whose firmware names a BMC at an address, asked as a live host asks it.
func machine(t *testing.T, address netip.AddrPort) host.Host {
	t.Helper()
	record := make([]byte, 91)
	record[51] = 1
	copy(record[52:], address.Addr().AsSlice())
	binary.LittleEndian.PutUint16(record[84:], address.Port())
	data := append([]byte{42, 0, 0, 0, 0x40, 1, 0x04, 1, 4, byte(len(record))}, record...)
	data[1] = byte(len(data))
	h := capture(t, map[string]string{strings.TrimPrefix(smbios.Path, "/"): string(data) + "\x00\x00" + string([]byte{127, 4, 0, 0, 0, 0})})
	h.BMC = host.Live().BMC
	return h
}

// bmc is a service that gives these answers, and refuses all others.
func bmc(t *testing.T, answers map[string]string) netip.AddrPort {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[strings.TrimPrefix(r.URL.Path, host.RedfishRoot)]
		if !ok || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	return netip.MustParseAddrPort(server.Listener.Addr().String())
}

// TestResourcesNamedBySerial: a BMC that calls a machine by its serial number gives it away neither as a source nor in a capture.
func TestResourcesNamedBySerial(t *testing.T) {
	answers := newer()
	answers["/Systems"] = `{"Members":[{"@odata.id":"/redfish/v1/Systems/WZP2134XYZ"}]}`
	answers["/Systems/WZP2134XYZ"] = `{"@odata.type":"#ComputerSystem.v1_9_0.ComputerSystem","Id":"WZP2134XYZ","SerialNumber":"WZP2134XYZ","Manufacturer":"Cisco Systems Inc","Model":"UCSC-885A-M8"}`
	var live Report
	var b bytes.Buffer
	err := host.Record(t.Context(), machine(t, bmc(t, answers)), func(h host.Host) {
		live, _ = Read(t.Context(), h)
	}, &b)
	if err != nil {
		t.Fatal(err)
	}
	if p := live.Product; p.Value != "UCSC-885A-M8" || p.Source != "/redfish/v1/Systems/serial2 Model" { // the first is a supply's
		t.Errorf("%+v", p)
	}
	name := filepath.Join(t.TempDir(), "c.tar.gz")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	h, done, err := host.FromCapture(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer done() //nolint:errcheck // a folder of the test
	again, err := Read(t.Context(), h)
	if diff := cmp.Diff(live, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	err = filepath.WalkDir(h.Root, func(path string, _ fs.DirEntry, _ error) error {
		text, _ := os.ReadFile(path)
		if strings.Contains(path+string(text), "WZP2134") {
			t.Errorf("%s: %s", path, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBMC asks a service over HTTPS, captures its answers, and reads the same of the capture.
func TestBMC(t *testing.T) {
	h := machine(t, bmc(t, newer()))
	var live Report
	var b bytes.Buffer
	err := host.Record(t.Context(), h, func(h host.Host) {
		var err error
		if live, err = Read(t.Context(), h); err != nil {
			t.Error(err)
		}
	}, &b)
	if err != nil {
		t.Fatal(err)
	}
	p := live.Power
	if live.BMC.Value != "OpenBMC 2.14.0" || p.CapacityW.Value != 12000 || p.SuppliesW.Value != 3000 || len(p.Supplies.Items) != 1 || p.InputW.Value != 5120.5 {
		t.Errorf("%+v", live)
	}
	if p.Redundancy.Value != "NPlusM, 3 of 4 needed" || p.LimitW.IsKnown() {
		t.Errorf("%+v %+v", p.Redundancy, p.LimitW)
	}
	if again := replay(t, b.Bytes()); !reflect.DeepEqual(again, live) {
		t.Errorf("%+v\n%+v", again, live)
	}
}

// replay reads a capture, and looks for what must not stand in it.
func replay(t *testing.T, b []byte) Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "c.tar.gz")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	h, done, err := host.FromCapture(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	r, _ := Read(t.Context(), h)
	err = filepath.WalkDir(h.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range []string{"SECRET1", "beef", "evil", "127.0.0.1"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSilentBMC: why a BMC tells nothing is said in words, and again of a capture.
func TestSilentBMC(t *testing.T) {
	gone := bmc(t, nil)
	for want, h := range map[string]host.Host{
		"wants an account":           machine(t, bmc(t, map[string]string{"": newer()[""]})),
		"does not answer":            machine(t, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 1)),
		"(HTTP 401)":                 machine(t, gone),
		"is not in the capture":      capture(t, map[string]string{}),
		"names no BMC that the host": machine(t, netip.AddrPort{}),
		"needs root (dmidecode)":     withoutRoot(t),
	} {
		var live Report
		var b bytes.Buffer
		if err := host.Record(t.Context(), h, func(h host.Host) { live, _ = Read(t.Context(), h) }, &b); err != nil {
			t.Fatal(err)
		}
		if live.BMC.IsKnown() || !strings.Contains(live.BMC.Unknown, want) || !strings.Contains(live.Power.InputW.Unknown, want) {
			t.Errorf("%q: %+v", want, live.BMC)
		}
		if again := replay(t, b.Bytes()); again.BMC.Unknown != live.BMC.Unknown {
			t.Errorf("%q becomes %q in a capture", live.BMC.Unknown, again.BMC.Unknown)
		}
	}
}

// withoutRoot is a host whose firmware table only root reads.
func withoutRoot(t *testing.T) host.Host {
	t.Helper()
	h := capture(t, map[string]string{"failed.json": `{"` + smbios.Path + `":"is not readable by this user"}`})
	h.BMC = host.Live().BMC
	return h
}

// FuzzParse reads answers of any kind: no panic, and no watts that are none.
func FuzzParse(f *testing.F) {
	for _, s := range newer() {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"PowerControl":[{"PowerConsumedWatts":-1,"PowerLimit":null}],"PowerSupplies":[null,{"Status":7}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, ok := decode(b)
		if !ok {
			return
		}
		r := parse(map[string]resource{"/redfish/v1/Chassis/a/Power": doc, "/redfish/v1/Systems/a": doc, "/redfish/v1/Managers/a": doc})
		for _, w := range []float64{r.Power.InputW.Value, r.Power.CapacityW.Value, r.Power.SuppliesW.Value, r.Power.LimitW.Value} {
			if w < 0 {
				t.Errorf("%g W of %s", w, b)
			}
		}
		doc.links()
	})
}

// FuzzHostInterface reads structures of any kind.
func FuzzHostInterface(f *testing.F) {
	f.Add([]byte{42, 8, 0, 0, 0x40, 0, 1, 4})
	f.Fuzz(func(t *testing.T, b []byte) { redfishAddress(smbios.Structure{Kind: 42, Data: b}) })
}
