package field

// networkRows are of the network.
func networkRows() []row {
	return []row{
		{no: 60, id: "node_exporter#966, #974", fault: "one unreadable counter loses all of InfiniBand", here: "that counter alone is unknown", test: "probes/network.TestField_nodeExporter_966"},
		{no: 61, id: "node_exporter#3265", fault: "a port whose counter cannot be read hides the adapter", here: "the others are there", test: "probes/network.TestField_nodeExporter_3265"},
		{no: 62, id: "node_exporter#2023", fault: "Omni-Path is left out", here: "it is there, by its name", test: "probes/network.TestField_nodeExporter_2023"},
		{no: 63, id: "node_exporter#573, netdata#11991, netdata#14747, infiniband_exporter#33, atop#354", fault: "words of data are taken for bytes, or scaled twice", here: "words of 4 bytes, once", test: "probes/network.TestField_nodeExporter_573"},
		{no: 64, id: "systemd#33076", fault: "2.5 Gb/s become 2", here: "2500 Mb/s", test: "probes/network.TestField_systemd_33076"},
	}
}
