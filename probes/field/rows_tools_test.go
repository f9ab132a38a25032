package field

// toolsRows are of Tools of GPU vendors.
func toolsRows() []row {
	return []row{
		{no: 41, id: "amd-smi: its changelog", fault: "a wrong kind of memory, occupancy 0 for none, processes at every GPU, broken JSON, calls that hang or crash", here: "a second source with a limit of time, whose word never replaces the kernel's", test: "probes/amdsmi.TestField_amdsmi_changelog probes/amdsmi.TestField_amdsmi_hang"},
		{no: 43, id: "rocm-systems#2987", fault: "a library that does not know a GPU gives half its compute units", here: "the compute driver's number; the other is shown beside it", test: "probes.TestField_rocmsystems_2987"},
		{no: 46, id: "PVE-mods#348", fault: "limits and power of an APU are all 0 W", here: "unknown", test: "probes/amdsmi.TestField_PVEmods_348"},
	}
}
