package field

// nvidiaRows are of NVIDIA GPUs, and those of other vendors.
func nvidiaRows() []row {
	return []row{
		{no: 25, id: "nvtop#436, nvtop#424", fault: "the window of BAR 1 is added to the memory", here: "the frame buffer alone", test: "probes/nvidia.TestField_nvtop_436"},
		{no: 26, id: "nvtop#449, nvtop#426, nvitop#208, gpud#1170, llamastash#59, llamastash#60, nvgpu#37, inference-snaps#143", fault: "a GPU that shares the system's memory is dropped, or all of that memory is its own", here: "it is there; its memory is unified with the system's", test: "probes/nvidia.TestField_nvtop_449"},
		{no: 27, id: "nvtop#493", fault: "an Intel B60's critical limit is taken for its cap", here: "the cap", test: "probes/others.TestField_nvtop_493"},
		{no: 28, id: "telegraf#7659, netdata#4892, nvidia_gpu_exporter#68, pai#949", fault: "\"[N/A]\" in a column of numbers drops the GPU", here: "that field alone is unknown", test: "probes/nvidia.TestField_telegraf_7659"},
		{no: 29, id: "netdata#15755", fault: "a driver names its block of power readings anew, and power is lost", here: "both names", test: "probes/nvidia.TestField_netdata_15755"},
		{no: 30, id: "1Panel#11910", fault: "a sentence about a deprecated query in one field makes the whole report unreadable", here: "that field alone is unknown", test: "probes/nvidia.TestField_1Panel_11910"},
		{no: 31, id: "i3pystatus#776", fault: "\"[Not Supported]\" crashes a reader that knows \"[N/A]\"", here: "every spelling of none is unknown", test: "probes/nvidia.TestField_i3pystatus_776"},
		{no: 32, id: "MindMiner#627", fault: "an unreadable default limit is a failure", here: "the default is unknown; the enforced limit is the cap", test: "probes/nvidia.TestField_MindMiner_627"},
		{no: 33, id: "nvitop#86", fault: "a laptop's limit is missing", here: "the enforced limit", test: "probes/nvidia.TestField_nvitop_86"},
		{no: 34, id: "open-gpu-kernel-modules#483", fault: "a laptop's default limit is not its highest", here: "both, each as what it is", test: "probes/nvidia.TestField_open_gpu_kernel_modules_483"},
		{no: 37, id: "pyJoules#23", fault: "mJ are read as µJ", here: "mJ", test: "probes/nvidia.TestField_pyJoules_23"},
		{no: 40, id: "nvtrust#128", fault: "4 of 8 GPUs are initialised and all 8 are on the bus", here: "they are counted apart, and the check fails", test: "probes/nvidia.TestField_nvtrust_128"},
		{no: 48, id: "cubecos#312", fault: "\"Not Found\" is stored as the version of CUDA", here: "unknown", test: "probes/nvidia.TestField_cubecos_312"},
		{no: 49, id: "all-smi#364", fault: "an integrated Intel GPU is called discrete, with a little memory of its own", here: "integrated; it shares the system's memory", test: "probes/others.TestField_all_smi_364"},
	}
}
