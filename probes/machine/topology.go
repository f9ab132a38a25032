package machine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const topologySource = cpuDir + "/cpu*/topology"

// cpuPlace is where one logical CPU sits.
type cpuPlace struct {
	cpu  int
	pkg  string
	core string // the list of the CPUs of its core
}

// placing is how cores lie in packages. core_id is no part of it: its numbers repeat in each package.
type placing struct {
	cores   map[string]map[string]int // package → core → logical CPUs
	threads int
}

// readPlaces gives the place of each CPU that is on line; the others have no topology. CPUs that come or go meanwhile make it look
// again, since a package would be counted that is half there.
func readPlaces(h host.Host) ([]cpuPlace, error) {
	online := func() string {
		text, _ := h.Text(cpuDir + "/online")
		return text
	}
	return settled(online, func() []cpuPlace { return placesOnce(h) })
}

// settled reads until the set of CPUs before and after is the same.
func settled(online func() string, read func() []cpuPlace) ([]cpuPlace, error) {
	for range 5 {
		before := online()
		places := read()
		if online() == before {
			return places, nil
		}
	}
	return nil, errors.New("CPUs went on and off line while it was read")
}

func placesOnce(h host.Host) []cpuPlace {
	var places []cpuPlace
	for _, cpu := range cpuFolders(h) {
		pkg := host.TextFact(h, cpu.dir+"/topology/physical_package_id")
		core := sut.First(host.TextFact(h, cpu.dir+"/topology/core_cpus_list"), host.TextFact(h, cpu.dir+"/topology/thread_siblings_list"))
		if pkg.IsKnown() {
			places = append(places, cpuPlace{cpu.number, pkg.Value, core.Value})
		}
	}
	return places
}

// place sorts CPUs into cores and packages.
func place(places []cpuPlace) (placing, error) {
	p := placing{cores: map[string]map[string]int{}}
	for _, c := range places {
		if c.core == "" {
			return placing{}, errors.New("has no core lists")
		}
		if p.cores[c.pkg] == nil {
			p.cores[c.pkg] = map[string]int{}
		}
		p.cores[c.pkg][c.core]++
		p.threads++
	}
	if p.threads == 0 {
		return placing{}, errors.New("lists no CPU")
	}
	return p, nil
}

// sockets counts the packages. Firmware that knows of none gives every CPU the number -1.
func (p placing) sockets() (int, error) {
	if p.cores["-1"] != nil {
		return 0, errors.New("does not tell the package of a CPU")
	}
	return len(p.cores), nil
}

// coresPerSocket gives an error when packages differ, since one number would be wrong.
func (p placing) coresPerSocket() (int, error) {
	if _, err := p.sockets(); err != nil {
		return 0, err
	}
	var counts []int
	for _, cores := range p.cores {
		counts = append(counts, len(cores))
	}
	slices.Sort(counts)
	if counts[0] != counts[len(counts)-1] {
		return 0, fmt.Errorf("gives packages different numbers of cores: %s", words(counts))
	}
	return counts[0], nil
}

func (p placing) allCores() int {
	n := 0
	for _, cores := range p.cores {
		n += len(cores)
	}
	return n
}

// threadsPerCore gives the most of any core, and what all cores have when they differ.
func (p placing) threadsPerCore() (most int, mixed string) {
	var counts []string
	for _, cores := range p.cores {
		for _, n := range cores {
			most = max(most, n)
			counts = append(counts, fmt.Sprintf("cores with %d threads", n))
		}
	}
	if len(host.Distinct(counts)) > 1 {
		mixed = host.Tally(counts)
	}
	return most, mixed
}

func words(numbers []int) string {
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = strconv.Itoa(n)
	}
	return strings.Join(text, ", ")
}

// fillTopology counts distinct packages, cores and logical CPUs.
func fillTopology(c *sut.CPU, places []cpuPlace, err error) {
	var p placing
	if err == nil {
		p, err = place(places)
	}
	if err != nil {
		none := sut.Unknown[int]("%s: %s", topologySource, err)
		c.Sockets, c.CoresPerSocket, c.ThreadsPerCore, c.Cores, c.Threads = none, none, none, none, none
		return
	}
	c.Sockets, c.CoresPerSocket = counted(p.sockets()), counted(p.coresPerSocket())
	most, mixed := p.threadsPerCore()
	c.ThreadsPerCore = sut.Known(most, topologySource)
	if mixed != "" {
		c.ThreadsPerCore.Other = mixed + "; the most stands here"
	}
	c.Cores, c.Threads = sut.Known(p.allCores(), topologySource), sut.Known(p.threads, topologySource)
}

func counted(n int, err error) sut.Fact[int] {
	if err != nil {
		return sut.Unknown[int]("%s %s", topologySource, err)
	}
	return sut.Known(n, topologySource)
}

// fillSockets sets what firmware says of its sockets beside what is on line.
func fillSockets(c *sut.CPU, t firmware) {
	list := t.processors()
	c.BoardSockets, c.PopulatedSockets, c.FirmwareModel = t.sockets(list)
	populated, known := c.PopulatedSockets.Get()
	if !known {
		return
	}
	if !c.Sockets.IsKnown() {
		c.Sockets = c.PopulatedSockets
		return
	}
	if populated != c.Sockets.Value {
		c.Sockets.Other = fmt.Sprintf("%d by %s; processors whose CPUs are all off line have no topology", populated, c.PopulatedSockets.Source)
	}
}
