package nvidia

import (
	"strconv"

	"assay/probes/host"
	"assay/probes/sut"
)

// processes lists who holds the device, by the host's process numbers.
func (g gpu) processes() sut.List[sut.GPUProcess] {
	found := g.kid("processes")
	if found == nil || (found.text != "" && found.text != "None") {
		return sut.List[sut.GPUProcess]{Unknown: g.report.source + " does not list the processes"}
	}
	list := sut.List[sut.GPUProcess]{Items: []sut.GPUProcess{}}
	for _, p := range append(found.all("process_info"), found.all("process_id")...) {
		list.Items = append(list.Items, p.process(g.report.source))
	}
	return list
}

// process reads an element of the XML, or a line of the text with what stands below it.
func (n *node) process(source string) sut.GPUProcess {
	pid := n.fact(source, "pid")
	if n.name == "process_id" {
		pid = sut.Known(n.text, source+" processes")
	}
	return sut.GPUProcess{
		PID:       sut.Convert(pid, strconv.Atoi),
		Name:      sut.Convert(n.fact(source, "process_name", "name"), func(s string) (string, error) { return host.ProgramName(s), nil }),
		VRAMBytes: sut.Convert(n.fact(source, "used_memory", "used_gpu_memory"), mebibytes),
	}
}
