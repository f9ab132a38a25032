package launch

import (
	"encoding/json"

	"assay/report/served"
	"assay/result"
)

// instance is a server or router as the result has it. What a document does not hold stays empty.
type instance struct {
	served.Server
	Facts   *imageFacts `json:"image_facts"`
	Launch  *record     `json:"launch"`
	Files   []file      `json:"files"`
	Start   *start      `json:"start"`
	Servers []instance  `json:"servers"` // each of several

	VersionUnknown string `json:"version_unknown"` // why a router's is not known
}

// imageFacts are the digests of an image and what was proved of it.
type imageFacts struct {
	Unpinned       bool     `json:"unpinned"`
	IndexDigest    string   `json:"index_digest"`
	ManifestDigest string   `json:"manifest_digest"`
	ConfigDigest   string   `json:"config_digest"`
	Unknown        string   `json:"unknown"`
	File           string   `json:"file"`
	OS             string   `json:"os"`
	Architecture   string   `json:"architecture"`
	Variant        string   `json:"variant"`
	Layers         []string `json:"layers"`
	Created        string   `json:"created"`
	SizeBytes      int64    `json:"size_bytes"`
	Base           *base    `json:"base"`
}

// base is the image that another is said to be built from.
type base struct {
	Image    string   `json:"image"`
	Proved   bool     `json:"proved"`
	Layers   []string `json:"layers"`
	Shared   int      `json:"shared"`
	Unproved string   `json:"unproved"`
	ToldBy   string   `json:"told_by"`
}

// record is what was asked of a runtime and what it made of it.
type record struct {
	GPUs      []device `json:"gpus"`
	GPUParts  []string `json:"gpu_parts"`
	GPUAccess string   `json:"gpu_access"`
	Asked     settings `json:"asked"`
	Made      settings `json:"made"`
	Differs   []string `json:"differs"`
	File      string   `json:"file"`
}

type device struct {
	Index int    `json:"index"`
	PCI   string `json:"pci"`
}

// settings are what something is started with.
type settings struct {
	Image        string            `json:"image"`
	Argv         []string          `json:"argv"`
	Env          map[string]string `json:"env"`
	Dir          string            `json:"dir"`
	User         string            `json:"user"`
	Network      string            `json:"network"`
	Ports        []string          `json:"ports"`  // the bindings as a reader is told: "127.0.0.1:30000 to 8000"
	Mounts       []string          `json:"mounts"` // "/mnt/model at /model, read-only"
	PortBindings []portBinding     `json:"port_bindings"`
	BindMounts   []bindMount       `json:"bind_mounts"`
	IPC          string            `json:"ipc"`
	ShmBytes     int64             `json:"shm_bytes"`
	CPUs         string            `json:"cpus"`
	MemoryNodes  string            `json:"memory_nodes"`
	Ulimits      map[string]string `json:"ulimits"` // "soft:hard"
	Devices      []string          `json:"devices"`
	GPUs         []string          `json:"gpus"` // UUIDs, names of CDI, or "all"
	Groups       []string          `json:"groups"`
	Capabilities []string          `json:"capabilities"`
	SecurityOpt  []string          `json:"security_opt"`
	Privileged   bool              `json:"privileged"`
}

// portBinding is a port of the host by which one of a container is reached.
type portBinding struct {
	HostIP        string `json:"host_ip"`
	HostPort      int    `json:"host_port"`
	ContainerPort int    `json:"container_port"`
	Protocol      string `json:"protocol"`
}

// bindMount is a path of the host in a container.
type bindMount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only"`
}

// file is configuration that was kept in the run's folder.
type file struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// start is how a server got ready.
type start struct {
	Stages []struct {
		Name    string  `json:"name"`
		Seconds float64 `json:"seconds"`
	} `json:"stages"`
}

// read takes of a document what has the right form.
func read(raw json.RawMessage) (i instance) {
	_ = json.Unmarshal(raw, &i) // what cannot be read is shown as it is in the result document
	return i
}

// here says that the run started it, on whatever machine: an endpoint was there before.
func (i instance) here() bool { return i.Runtime == "docker" || i.Runtime == "process" }

// members are the servers of an instance; itself when it is one.
func (i instance) members() []instance {
	if len(i.Servers) == 0 {
		return []instance{i}
	}
	return i.Servers
}

// client is a client that is another program, in the form of what is started.
func client(c result.ClientIdentity) instance {
	return instance{Server: served.Server{Runtime: c.Runtime, Image: c.Image, ImageID: c.ImageID, Argv: c.Argv, BinarySHA256: c.SHA256, Version: c.Version}}
}
