package field

// amdRows are of AMD GPUs.
func amdRows() []row {
	return []row{
		{no: 1, id: "mlperf-automations#1108", fault: "a ROCm host has no accelerator, since keys of another vendor are looked for", here: "8 MI300X, by sysfs", test: "probes/amd.TestField_mlperfautomations_1108"},
		{no: 5, id: "cm4mlops#288", fault: "the number of accelerators of a node is wrong when there are several", here: "one for each physical device", test: "probes/amd.TestField_cm4mlops_288"},
		{no: 6, id: "ROCm#4750", fault: "each of the partitions of an MI300X is given the memory of the whole GPU", here: "the whole is counted once; a partition has its share", test: "probes/amd.TestField_ROCm_4750"},
		{no: 7, id: "amdsmi#97", fault: "an APU (MI300A) divided into partitions has odd shares of memory", here: "the memory that the compute driver gives, which is the system's too", test: "probes/amd.TestField_amdsmi_97"},
		{no: 8, id: "k8s-device-plugin#157", fault: "a driver of the kernel gives a garbled version, and partitions that are platform devices are not seen", here: "\"in-tree\" with the kernel's release; every partition", test: "probes/amd.TestField_k8sdeviceplugin_157"},
		{no: 9, id: "ROCm#5231", fault: "a virtual function is treated as if its power cap could be set", here: "a virtual function says that its cap cannot be set", test: "probes/amd.TestField_ROCm_5231"},
		{no: 10, id: "amdsmi#38", fault: "the raw counter of energy is taken for µJ", here: "counts times the counter's resolution", test: "probes/amd.TestField_amdsmi_38"},
		{no: 11, id: "rocm-systems#6654", fault: "an accumulator of energy is not scaled", here: "counts times 15.259 µJ", test: "probes/amd.TestField_rocmsystems_6654"},
		{no: 12, id: "rocm_smi_lib#180", fault: "MI250: energy of a package stands at each of its dies", here: "the package once, at its first die", test: "probes/amd.TestField_rocmsmilib_180"},
		{no: 13, id: "device-metrics-exporter#233", fault: "a virtual function has an id of zeros and a partition number of all ones", here: "unknown; its name by its device id", test: "probes/amd.TestField_devicemetricsexporter_233"},
		{no: 14, id: "device-metrics-exporter#160", fault: "MI308X at full load shows 0 % activity", here: "the source that moves, or unknown", test: "probes/amd.TestField_devicemetricsexporter_160"},
		{no: 15, id: "device-metrics-exporter#139", fault: "an idle GPU shows 13 % activity", here: "the mean over a time, not one reading", test: "probes/amd.TestField_devicemetricsexporter_139"},
		{no: 16, id: "device-metrics-exporter#353, #259", fault: "an APU has 0 W and 0 °C", here: "a sensor's value, or unknown", test: "probes/amd.TestField_devicemetricsexporter_353"},
		{no: 17, id: "rocm-systems#11468", fault: "a file of XGMI errors cannot be read on MI300X and later, so the links' health is never looked at", here: "the error counters of the RAS block", test: "probes/amd.TestField_rocmsystems_11468"},
		{no: 18, id: "rocm-systems#5763, hwloc#775", fault: "every pair of MI250X dies is one hop apart", here: "hops by the weight of the link", test: "probes/amd.TestField_rocmsystems_5763"},
		{no: 19, id: "rccl#1290", fault: "XGMI is not recognised by a weight other than 15, as partitions have", here: "by the type of the link", test: "probes/amd.TestField_rccl_1290"},
		{no: 20, id: "rocm-systems#2053", fault: "a GPU without XGMI has links that are all down", here: "it does not apply", test: "probes/amd.TestField_rocmsystems_2053"},
		{no: 21, id: "variorum#553", fault: "MI200: the missing power of odd dies is an error", here: "the package's power at even dies alone", test: "probes/amd.TestField_variorum_553"},
		{no: 22, id: "ROCm#4454, rocm_bandwidth_test#126", fault: "a GPU without a name in the driver is without one, or is left out", here: "the name by its device id", test: "probes/amd.TestField_ROCm_4454"},
		{no: 23, id: "gfx942 of the compute driver, gfx943 of ip_discovery", fault: "one GPU has two architectures", here: "the compute driver's", test: "probes/amd.TestField_gfx942_gfx943"},
		{no: 24, id: "nvtop#341", fault: "MI300 has no display class and is not recognised", here: "processing accelerators count as GPUs do", test: "probes/amd.TestField_nvtop_341"},
		{no: 38, id: "ROCm#1434", fault: "the memory's vendor makes an old driver's tool fail", here: "that fact alone is unknown", test: "probes/amd.TestField_ROCm_1434"},
		{no: 39, id: "pciutils#151", fault: "the memory of a GPU is taken from the size of a PCI window", here: "the driver's figure", test: "probes/amd.TestField_pciutils_151"},
		{no: 44, id: "amdgpu#127, ROCm#1769, ROCm#934", fault: "an APU has more compute units than it can have", here: "such a number is not known", test: "probes/amd.TestField_amdgpu_127"},
		{no: 45, id: "MxGPU-Virtualization#26", fault: "limits behind a host driver of SR-IOV are 0 and all ones", here: "the cap is known, the others are unknown", test: "probes/amd.TestField_MxGPUVirtualization_26"},
		{no: 47, id: "btop-gpu#3, btop#818, btop#911", fault: "0 W where no source gave any", here: "unknown, or the sensor that does", test: "probes/amd.TestField_btop_818"},
	}
}
