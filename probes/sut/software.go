package sut

// Software is drivers and container tools of the host.
type Software struct {
	AMDGPU              Fact[string]    `json:"amdgpu"`                // version of the driver, or in-tree with the kernel's
	AMDGPUSource        Fact[string]    `json:"amdgpu_srcversion"`     // the checksum of its sources, as the kernel has it
	ROCm                Fact[string]    `json:"rocm"`                  // of the host
	ROCmTrees           List[string]    `json:"rocm_trees"`            // every one installed: "6.3.2 in /opt/rocm-6.3.2"
	CUDA                Fact[string]    `json:"cuda"`                  // what the driver supports
	NVIDIADriver        Fact[string]    `json:"nvidia_driver"`         // version of the driver
	Docker              Fact[string]    `json:"docker"`                // the engine
	Containerd          Fact[string]    `json:"containerd"`            // what the engine runs on
	ContainerToolkit    Fact[string]    `json:"container_toolkit"`     // NVIDIA's
	AMDContainerToolkit Fact[string]    `json:"amd_container_toolkit"` // AMD's
	Runc                Fact[string]    `json:"runc"`                  // what starts containers
	Podman              Fact[string]    `json:"podman"`                // the program
	Engine              ContainerEngine `json:"engine"`
	CDI                 List[CDISpec]   `json:"cdi"`
}

// ContainerEngine is how the Docker engine is set up.
type ContainerEngine struct {
	Runtimes       Fact[[]string] `json:"runtimes"`        // that containers may ask for
	DefaultRuntime Fact[string]   `json:"default_runtime"` // of containers that ask for none
	StorageDriver  Fact[string]   `json:"storage_driver"`  // overlay2, …
	CgroupDriver   Fact[string]   `json:"cgroup_driver"`   // systemd or cgroupfs
	CgroupVersion  Fact[string]   `json:"cgroup_version"`  // 1 or 2
	Rootless       Fact[bool]     `json:"rootless"`        // the engine runs as a user
	CDIDirs        Fact[[]string] `json:"cdi_dirs"`        // folders in which it looks for CDI specifications
}

// CDISpec is a file that tells container engines how to hand devices of one kind to a container.
type CDISpec struct {
	File    Fact[string] `json:"file"`    // its path
	Kind    Fact[string] `json:"kind"`    // nvidia.com/gpu
	Devices Fact[int]    `json:"devices"` // that it names, "all" too
}
