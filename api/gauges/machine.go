package gauges

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"assay/probes"
)

// most is how many interfaces or file systems have series.
const most = 64

// Machine is the facts and the checks of a probe.
type Machine struct {
	SUT    probes.SUT
	Checks []probes.Check
}

// Describe is part of prometheus.Collector.
func (m Machine) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect is part of prometheus.Collector.
func (m Machine) Collect(out chan<- prometheus.Metric) {
	s := newSink(out)
	s.add("assay_probe_timestamp_seconds", "When the machine was probed, which the facts and checks are of.", float64(m.SUT.ProbedAtUS)/1e6)
	m.node(s)
	m.accelerators(s)
	m.parts(s)
	m.checks(s)
}

func (m Machine) node(s sink) {
	sys, cpu := m.SUT.System, m.SUT.CPU
	s.info("assay_machine_info", "The machine; always 1.", []string{"vendor", "product", "bios", "cpu", "distro", "kernel", "virtualization"},
		text(sys.Vendor), text(sys.Product), text(sys.BIOS.Version), text(cpu.Model), text(m.SUT.OS.Distro), text(m.SUT.OS.Kernel), text(sys.Virtualization))
	fact(s, "assay_cpu_sockets", "Processors.", cpu.Sockets, 1)
	fact(s, "assay_cpu_cores_per_socket", "Cores of a processor.", cpu.CoresPerSocket, 1)
	fact(s, "assay_cpu_threads_per_core", "Threads of a core.", cpu.ThreadsPerCore, 1)
	fact(s, "assay_memory_bytes", "Memory that the system has.", m.SUT.Memory.Bytes, 1)
	fact(s, "assay_memory_installed_bytes", "Memory of the modules.", m.SUT.Memory.InstalledBytes, 1)
	fact(s, "assay_power_provisioned_watts", "Power that is provided for the machine.", m.SUT.Power.ProvisionedW, 1)
}

func (m Machine) accelerators(s sink) {
	list := m.SUT.Accelerators
	if list.Unknown != "" {
		return
	}
	s.add("assay_accelerators", "Physical accelerators.", float64(len(list.Items)))
	for i, a := range list.Items {
		gpu := []string{"gpu", strconv.Itoa(i)}
		s.info("assay_accelerator_info", "An accelerator; always 1.", []string{"gpu", "pci", "vendor", "name", "arch", "vbios", "driver"},
			gpu[1], text(a.PCI.Address), text(a.Vendor), text(a.Name), text(a.Arch), text(a.VBIOS), text(a.DriverVersion))
		fact(s, "assay_accelerator_memory_bytes", "Memory of the accelerator.", a.VRAMBytes, 1, gpu...)
		fact(s, "assay_accelerator_power_cap_watts", "Power limit in force.", a.PowerCapW, 1, gpu...)
		fact(s, "assay_accelerator_power_default_watts", "Power limit of the factory.", a.PowerDefaultW, 1, gpu...)
		fact(s, "assay_accelerator_link_width_lanes", "Lanes of the PCIe link.", a.Link.Width, 1, gpu...)
		fact(s, "assay_accelerator_link_max_width_lanes", "Lanes that the device can.", a.Link.MaxWidth, 1, gpu...)
		fact(s, "assay_accelerator_link_transfers_per_second", "Speed of the PCIe link when probed; low when idle, on some.", a.Link.GTS, 1e9, gpu...)
		fact(s, "assay_accelerator_link_max_transfers_per_second", "Speed that the device can.", a.Link.MaxGTS, 1e9, gpu...)
		fact(s, "assay_accelerator_partitions", "Partitions or instances; 1 when whole.", a.Partition.Count, 1, gpu...)
		fact(s, "assay_accelerator_xgmi_peers", "Accelerators that it reaches over XGMI.", a.XGMIPeers, 1, gpu...)
		fact(s, "assay_accelerator_nvlinks", "Active NVLinks.", a.NVLinks, 1, gpu...)
		flag(s, "assay_accelerator_ecc_enabled", "Whether ECC is on.", a.ECC, gpu...)
		flag(s, "assay_accelerator_persistence_enabled", "Whether persistence mode is on.", a.Persistence, gpu...)
	}
}

// parts are file systems and interfaces by their names.
func (m Machine) parts(s sink) {
	systems, interfaces := m.SUT.Storage.Filesystems.Items, m.SUT.Network.Interfaces.Items
	for _, f := range systems[:min(len(systems), most)] {
		mount := []string{"mount", text(f.Mount)}
		fact(s, "assay_filesystem_size_bytes", "Size of a file system.", f.Bytes, 1, mount...)
		fact(s, "assay_filesystem_free_bytes", "What is free of it.", f.FreeBytes, 1, mount...)
	}
	for _, n := range interfaces[:min(len(interfaces), most)] {
		nic := []string{"nic", text(n.Name)}
		flag(s, "assay_network_up", "Whether an interface has a link.", n.Up, nic...)
		fact(s, "assay_network_speed_bytes_per_second", "Speed of its link.", n.SpeedMbps, 1e6/8.0, nic...)
	}
}

// checks has a series for each state of each check, 1 for the one it is in.
func (m Machine) checks(s sink) {
	for _, c := range m.Checks {
		for _, state := range []probes.CheckState{probes.CheckOK, probes.CheckWarn, probes.CheckFail, probes.CheckUnknown} {
			is := 0.0
			if c.State == state {
				is = 1
			}
			s.add("assay_check", "State of a readiness check: 1 for the one it is in.", is, "check", c.ID, "state", string(state))
		}
	}
}
