package amd

import (
	"path"
	"slices"
	"strconv"

	"assay/probes/host"
	"assay/probes/sut"
)

const kfdProcesses = "/sys/class/kfd/kfd/proc"

// holder is a process in the compute driver's account. The driver gives each of its processes a line for every GPU, so that only memory
// or a queue tells which GPUs it uses.
type holder struct {
	dir    string
	name   sut.Fact[string]
	vram   map[string]sut.Fact[int64] // by the driver's id of a GPU or partition
	queues []string                   // that id of each queue
	hidden bool                       // the queues are not told
}

// readHolders reads the account, or why there is none.
func readHolders(h host.Host) (list []holder, why string) {
	if _, err := h.List(kfdProcesses); err != nil {
		return nil, err.Error()
	}
	for _, dir := range h.Match(kfdProcesses, "[0-9]*") {
		p := holder{dir: dir, name: host.TextFact(h, "/proc/"+path.Base(dir)+"/comm"), vram: map[string]sut.Fact[int64]{}, hidden: !h.IsDir(dir + "/queues")}
		for _, file := range h.Match(dir, "vram_*") {
			p.vram[path.Base(file)[len("vram_"):]] = sut.Convert(host.IntFact[int64](h, file), bytes)
		}
		for _, queue := range h.Match(dir+"/queues", "[0-9]*") {
			if id, err := h.Text(queue + "/gpuid"); err == nil {
				p.queues = append(p.queues, id)
			}
		}
		list = append(list, p)
	}
	return list, ""
}

// processes lists who uses the GPU. One that has a queue and no memory does, too.
func (g gpu) processes() sut.List[sut.GPUProcess] {
	switch {
	case g.top.unheld != "":
		return sut.List[sut.GPUProcess]{Unknown: g.top.unheld}
	case g.kfd == nil:
		return sut.List[sut.GPUProcess]{Unknown: g.unlisted()}
	}
	list := sut.List[sut.GPUProcess]{Items: []sut.GPUProcess{}}
	for _, p := range g.top.holders {
		vram := p.of(*g.kfd)
		if vram.Value == 0 && !p.queued(*g.kfd) && !(vram.IsKnown() && p.hidden) {
			continue
		}
		list.Items = append(list.Items, sut.GPUProcess{PID: sut.Convert(sut.Known(path.Base(p.dir), p.dir), strconv.Atoi), Name: p.name, VRAMBytes: vram})
	}
	return list
}

// of sums a process's memory over the partitions of a GPU.
func (p holder) of(g kfdGPU) sut.Fact[int64] {
	sum := sut.Unknown[int64]("%s does not tell of this GPU", p.dir)
	for _, n := range g.nodes {
		if vram := p.vram[n.gpuID]; vram.IsKnown() {
			sum = sut.Known(sum.Value+vram.Value, vram.Source)
		}
	}
	return sum
}

func (p holder) queued(g kfdGPU) bool {
	return slices.ContainsFunc(g.nodes, func(n kfdNode) bool { return slices.Contains(p.queues, n.gpuID) })
}
