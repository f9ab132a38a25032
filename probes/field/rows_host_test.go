package field

// hostRows are of the host.
func hostRows() []row {
	return []row{
		{no: 2, id: "mlperf-automations#1017", fault: "a GPU's name is its index; the CPU's frequency and caches are empty", here: "the name; frequency and caches, or why not", test: "probes/machine.TestField_mlperfautomations1017 probes.TestField_mlperfautomations1017"},
		{no: 3, id: "ck#623", fault: "two processors of 40 cores with two threads have 160 cores", here: "40 cores each", test: "probes/machine.TestField_ck623"},
		{no: 4, id: "mlperf-sysinfo: its example", fault: "cores of the node stand for those of a processor; sizes have no unit, or another's", here: "cores for each socket; bytes", test: "probes/machine.TestField_mlperfsysinfo"},
		{no: 35, id: "gopsutil#849, gopsutil#1297", fault: "every logical CPU is one of 1 core", here: "from the topology", test: "probes/machine.TestField_gopsutil849"},
		{no: 36, id: "psutil#1620, psutil#1558, psutil#1969", fault: "core numbers repeat in each socket, so half of them are lost", here: "cores of all sockets", test: "probes/machine.TestField_psutil1620"},
		{no: 42, id: "MLPerf: notes of its rounds", fault: "inside a container, its own system and disks are taken for the host's", here: "they are marked as the container's", test: "probes/machine.TestField_mlperfnotes probes.TestField_mlperfnotes"},
		{no: 50, id: "numactl#165", fault: "nodes with CPUs and without memory", here: "4 nodes, 2 of them with memory", test: "probes/machine.TestField_numactl165"},
		{no: 51, id: "util-linux#3902", fault: "24 cores are 24 sockets", here: "1 socket", test: "probes/machine.TestField_utillinux3902"},
		{no: 52, id: "util-linux#698", fault: "a guest whose siblings files agree has 10 sockets", here: "1 socket of 10 cores with 8 threads", test: "probes/machine.TestField_utillinux698"},
		{no: 53, id: "psutil#1317", fault: "65534 cores stand in cpuinfo", here: "4, from the topology", test: "probes/machine.TestField_psutil1317"},
		{no: 54, id: "sigar#63", fault: "one processor is 12 sockets of 32 cores", here: "1 socket, 6 cores, 2 threads", test: "probes/machine.TestField_sigar63"},
		{no: 55, id: "util-linux#3265", fault: "sockets are counted while CPUs go off line", here: "the set is read again when it moved", test: "probes/machine.TestField_utillinux3265"},
		{no: 56, id: "hyperion#842", fault: "two kinds of core in one machine", here: "both models, each with its number", test: "probes/machine.TestField_hyperion842"},
		{no: 57, id: "hwloc#445", fault: "the memory of the nodes is less than the machine's", here: "the machine's total", test: "probes/machine.TestField_hwloc445"},
		{no: 58, id: "UnixAgent#5", fault: "sizes of DIMMs have a unit each", here: "bytes", test: "probes/machine.TestField_UnixAgent5"},
		{no: 59, id: "ROCm#1062", fault: "a board whose maker is the word \"empty\"", here: "unknown", test: "probes/machine.TestField_ROCm1062"},
		{no: 65, id: "VMAware#324, VMAware#296", fault: "a host that runs guests is called one", here: "bare metal", test: "probes/machine.TestField_VMAware324"},
	}
}
