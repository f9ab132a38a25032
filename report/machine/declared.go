package machine

// Declared are the fields of a published SUT summary that only people can tell; each says why it is empty here.
func Declared() Chapter {
	return Chapter{Name: "For a person to declare", Lines: []Line{
		Stated("Division", "", "", "chosen when a result is submitted"),
		Stated("Availability", "", "", "stated by who offers the system"),
		Stated("System category", "", "", "chosen when a result is submitted"),
		Stated("Network topology", "", "", "switches and cables do not show from inside the node"),
		Stated("Cooling", "", "", "how heat leaves the machine does not show from inside it"),
		Stated("Other hardware", "", "", "what answers on the PCI bus stands in the other chapters"),
		Stated("Hardware notes", "", "", "free text; power caps, BIOS and VBIOS have lines of their own"),
	}}
}

// Stated is a line whose value comes from the run; without a value it says why there is none.
func Stated(label, value, source, otherwise string) Line {
	if value == "" {
		return Line{Label: label, NotProbed: otherwise}
	}
	return Line{Label: label, Value: value, Source: source}
}
