package probes

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCaptureOfToolsIsAnonymous: what tools print of drives, adapters and engines names the machine; the capture and the SUT do not, and
// both say the same.
func TestCaptureOfToolsIsAnonymous(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosts/bare-metal-mi300x")); err != nil {
		t.Fatal(err)
	}
	nic := "sys/devices/pci0000:00/0000:00:10.0/"
	if err := os.Remove(filepath.Join(dir, nic+"driver")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../bus/pci/drivers/ionic", filepath.Join(dir, nic+"driver")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sys/bus/pci/drivers/ionic/new_id"), "")
	write(t, filepath.Join(dir, "etc/cdi/nvidia.yaml"), "kind: nvidia.com/gpu\ndevices:\n- name: GPU-0a1b2c3d-1111-4222-8333-4444555566aa\n")
	h := openCapture(t, dir)
	answers := map[string]string{
		"nicctl":   `{"nic":[{"id":"0a1b2c3d-1111-4222-8333-4444555566bb","eth_bdf":"0000:00:10.0","fru_mac_address":"04:90:81:aa:bb:cc","product_name":"POLLARA","serial_number":"FPL25SECRET1","firmware_version":"1.117"}]}`,
		"smartctl": `{"serial_number":"S5XXSECRET2","smart_status":{"passed":true}}`,
		"docker":   `{"ID":"SECRET3-ID","Name":"gpu-node-17","Driver":"overlay2","HttpProxy":"http://bob:SECRET4@proxy:3128","Labels":["owner=SECRET5"],"DockerRootDir":"/var/lib/docker","Runtimes":{"runc":{}}}`,
	}
	replay := h.Exec
	h.Exec = func(ctx context.Context, argv ...string) (Output, error) {
		if text, ok := answers[argv[0]]; ok && (argv[0] != "docker" || argv[1] == "info") {
			return Output{Stdout: []byte(text)}, nil
		}
		return replay(ctx, argv...)
	}
	path, b := captureOf(t, h)
	want, got := Read(t.Context(), h, Program{}), Read(t.Context(), openCapture(t, path), Program{})
	if want.Network.Interfaces.Items[1].Model.Value != "AMD POLLARA" || !want.Storage.Devices.Items[0].Health.Passed.Value || want.Software.Engine.StorageDriver.Value != "overlay2" || len(want.Software.CDI.Items) != 2 {
		t.Fatalf("the tools were not asked: %+v", want.Network.Interfaces.Items[1])
	}
	for name, text := range map[string]string{"capture": string(unpacked(t, b)), "SUT": string(document(t, want))} {
		text = strings.ToLower(text)
		for _, secret := range []string{"fpl25", "s5xx", "secret3", "secret4", "secret5", "4444555566", "04:90:81", "gpu-node-17", "bob"} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("the %s holds %q: %s", name, secret, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	if diff := cmp.Diff(string(document(t, still(want))), string(document(t, still(got)))); diff != "" {
		t.Errorf("(-host +capture)\n%s", diff)
	}
}
