// Package containers starts what a run needs and leaves nothing behind: engines (docker, process, endpoint), server presets,
// routers, readiness, reaping. It is the only package that knows Docker.
//
// A Spec is pure data, made from a plan by ServerSpec or RouterSpec; a Runtime starts it; an Instance is what runs. Everything started
// carries the owner's mark (a label on containers; on processes an environment variable, and a note beside the log for programs
// that overwrite theirs), and Reap removes what a killed program left, by that mark and nothing else.
//
// What is known of the servers themselves is in engine, the marks of processes are in mark; imagetest and enginetest serve tests only.
//
// To add a server preset: one file engine/preset_<name>.go and a line in engine.Presets(); a router: router_<name>.go and Routers();
// a runtime: runtime_<name>.go and Runtimes().
package containers
