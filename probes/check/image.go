package check

import (
	"fmt"
	"strconv"
	"strings"

	"assay/probes/sut"
)

// checkDriverImage compares what the plan's image is made for with this machine's driver. Fails when it is made for the other vendor's GPUs,
// and when its CUDA has a higher major version than the driver supports; warns when it has a higher minor one, and when the major versions of
// ROCm of image and host differ, since drivers are supported with libraries of about a year before and after.
func checkDriverImage(r Request) (Check, bool) {
	if r.Image == nil || len(r.SUT.Accelerators.Items) == 0 {
		return Check{}, false
	}
	cuda, rocm, w := r.Image.CUDA, r.Image.ROCm, r.SUT.Software
	evidence := []string{show("image CUDA", cuda), show("image ROCm", rocm), show("software.cuda", w.CUDA), show("software.rocm", w.ROCm)}
	switch {
	case cuda.Unknown != "" && rocm.Unknown != "":
		return unclear(cuda.Unknown, evidence...), true
	case cuda.IsKnown() && !rocm.IsKnown() && !has(r.SUT, "NVIDIA"):
		return fail("The image is made for NVIDIA's GPUs, and this machine has none.", evidence...), true
	case rocm.IsKnown() && !cuda.IsKnown() && !has(r.SUT, "AMD"):
		return fail("The image is made for AMD's GPUs, and this machine has none.", evidence...), true
	case cuda.IsKnown() && has(r.SUT, "NVIDIA"):
		return cudaFits(cuda, w.CUDA, evidence), true
	case rocm.IsKnown() && w.ROCm.IsKnown() && major(rocm.Value) != major(w.ROCm.Value):
		return warn(fmt.Sprintf("ROCm %s in the image, %s on the host.", rocm.Value, w.ROCm.Value), evidence...), true
	case !cuda.IsKnown() && !rocm.IsKnown():
		return unclear("the image names neither CUDA nor ROCm", evidence...), true
	case rocm.IsKnown() && !w.ROCm.IsKnown():
		return unclear(w.ROCm.Reason(), evidence...), true
	}
	return ok("The image's libraries go with the driver.", evidence...), true
}

func cudaFits(image, driver sut.Fact[string], evidence []string) Check {
	if !driver.IsKnown() {
		return unclear(driver.Reason(), evidence...)
	}
	text := fmt.Sprintf("CUDA %s in the image, and the driver supports up to %s.", image.Value, driver.Value)
	switch {
	case major(image.Value) > major(driver.Value):
		return fail(text, evidence...)
	case major(image.Value) == major(driver.Value) && minor(image.Value) > minor(driver.Value):
		return warn(text, evidence...)
	}
	return ok(text, evidence...)
}

func has(s sut.SUT, vendor string) bool {
	for _, a := range s.Accelerators.Items {
		if a.Vendor.Value == vendor {
			return true
		}
	}
	return false
}

func major(version string) int { return part(version, 0) }
func minor(version string) int { return part(version, 1) }

// part is a number between the dots of a version, 0 where there is none.
func part(version string, i int) int {
	parts := strings.Split(version, ".")
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimLeft(parts[i], "v"))
	if err != nil {
		return 0
	}
	return n
}
