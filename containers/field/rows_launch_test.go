package field

// launchRows are of images, containers, engines, GPUs and routers.
func launchRows() []row {
	return []row{
		{id: "gpustack#6203", fault: "SGLang counts as running before it is warm, since it lists its model early", here: "health, the list, and a real token", test: "containers.TestField_gpustack_6203"},
		{id: "vllm#55510", fault: "workers survive the API server and keep the GPU's memory, and the next start has none", here: "they end with it; memory is looked at after the stop", test: "containers/process.TestField_realengines_04 agent.TestField_issue_held_memory"},
		{id: "vllm-omni#2317", fault: "workers live on after the container was removed", here: "who holds GPU memory is named", test: "agent/node.TestHeld agent/node.TestKeeper"},
		{id: "gpustack#2935", fault: "a container is left when its node was away while it was stopped", here: "what carries the owner's mark is removed on the next contact", test: "agent.TestEngineIsAwayAtTheStart"},
		{id: "gpustack#3046", fault: "a container in an error state is not removed", here: "removal does not depend on the state", test: "agent.TestUnwind containers/docker.TestDocker"},
		{id: "gpustack#5235, #3616", fault: "the old container still holds the memory that the new one needs", here: "own leftovers are removed, foreign holders are named before the start", test: "agent.TestField_gpustack_5235 agent.TestRecoverRemovesWhatWasLeft"},
		{id: "gpustack#1262, #1519", fault: "zombies keep a container from ending", here: "containers have an init process", test: "containers/docker.TestContainerConfig"},
		{id: "dstack#2996", fault: "a container has fewer GPUs than it was given", here: "they are counted inside", test: "containers/launch.TestField_dstack_2996"},
		{id: "dstack#1465", fault: "a driver that is installed later is never seen", here: "the machine is read anew before and after every run", test: "agent.TestField_dstack_1465"},
		{id: "llm-d-benchmark#347", fault: "an accelerator is recorded as \"auto\"", here: "the document has the plan with what was asked for, and the machine with what was found", test: "agent.TestField_llmdbenchmark_347"},
		{id: "llm-d-benchmark#613", fault: "recorded arguments have placeholders in them", here: "the container's own command line is recorded", test: "containers/docker.TestDocker"},
		{id: "llm-d#1564, llm-d-benchmark#1675", fault: "502 on a session's next turn: the server closes idle connections earlier than the proxy", here: "presets set both ends", test: "containers.TestField_realengines_12"},
		{id: "ray#61468, #63353", fault: "HAProxy holds small chunks back for 200 ms", here: "the template turns that off", test: "containers.TestRealRouters"},
		{id: "c8s#140", fault: "nginx buffers a stream", here: "the template turns that off", test: "containers.TestRealRouters"},
		{id: "srt-slurm#236", fault: "a router keeps sessions by a header that no client sends", here: "the plan's header stands in both; it is verified at every point", test: "agent/routing.TestField_srtslurm_236"},
		{id: "srt-slurm: its nginx template", fault: "75 s end idle sessions, 1 MiB ends large prompts", here: "an hour and no limit", test: "containers.TestRealRouters containers.TestRouterSpec"},
		{id: "watchtower#2124", fault: "\"client version is too old\": a newer engine refuses the API's version", here: "the version is negotiated", test: "containers/docker.TestField_watchtower_2124"},
		{id: "stereoscope#500", fault: "a newer client drops engines of older API", here: "the client that is used serves 1.24 and later", why: "the library is another"},
		{id: "opentelemetry-collector-contrib#47350", fault: "a scanner finds a vulnerability of the engine's daemon in its client library", here: "the daemon's part is not linked", why: "it is a finding about the engine, not about its client"},
		{id: "moby#22011", fault: "a digest is lost by save and load", here: "the image is known by its configuration", test: "containers/image.TestField_moby22011_SavedImageIsKnownByItsConfiguration"},
		{id: "moby#48401", fault: "an image's id differs between stores of engines", here: "all its digests are known", test: "containers/image.TestField_moby48401_ImageIsKnownByAllItsDigests"},
		{id: "agenc-core#1725", fault: "the same image is refused for another of its digests", here: "any of its digests pins it", test: "containers/image.TestField_agenccore1725_SameImageByAnotherDigest"},
		{id: "recipes#241", fault: "nightly images are deleted after two weeks", here: "the refusal says so; an image can come from a file", test: "containers/image.TestField_vllmrecipes241_DeletedNightly"},
		{id: "InferenceX#3241", fault: "a recipe has a tag, and its digest in a comment", here: "a tag is refused with the digest that it has now", test: "containers/image.TestField_InferenceX3241_TagIsRefusedWithItsDigest"},
		{id: "InferenceX: KLAUD_DEBUG", fault: "the engine's socket may not be used; the disk is full while an image is unpacked; another run holds the port", here: "each is said before or by its cause", test: "containers/docker.TestDockerUnreachable containers/image.TestField_InferenceXKLAUDDEBUG_DiskFull containers/process.TestPortInUseNamesTheHolder"},
		{id: "InferenceX: CONTRIBUTING", fault: "files of root are left by a cancelled container", here: "mounts are read-only unless the plan says otherwise; logs come over the API", test: "containers/docker.TestContainerConfig"},
		{id: "nvidia-container-toolkit#48, #1227", fault: "GPUs vanish from a container when systemd reloads", here: "devices by CDI where the engine has it", test: "containers/gpu.TestField_nvidiacontainertoolkit_48"},
		{id: "vllm#34573, ROCm/vllm#893, amd-strix-halo-vllm-toolboxes#6", fault: "\"No HIP GPUs are available\": the group has another number in the container", here: "groups by number; the hint names them", test: "containers.TestField_vllm_34573 containers/gpu.TestAccess"},
		{id: "vllm#1710, nccl#342", fault: "64 MiB of shared memory", here: "16 GiB by preset, and a fault of its own", test: "containers.TestField_vllm_1710"},
		{id: "vllm#23684, club-3090#322", fault: "off line, a repository that the model refers to is missing", here: "both variables are set; the files of all are looked for before the start", test: "agent/weights.TestField_vllm_23684"},
		{id: "ROCm#4414, ATOM#1255", fault: "a GPU stuck at a low clock; a lock of clocks that outlives its job", here: "clocks are checked before a run, never set", test: "probes/check.TestEvaluate"},
	}
}
