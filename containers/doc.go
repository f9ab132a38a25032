// Package containers starts what a run needs and leaves nothing behind: engines (docker, process, endpoint), server presets,
// routers, readiness, reaping. It is the only package that knows Docker.
//
// A Spec is pure data, made from a plan by ServerSpec or RouterSpec; a Runtime starts it; an Instance is what runs. Everything started
// carries the owner's mark (a label on containers, an environment variable on processes), and Reap removes what a killed
// program left, by that mark and nothing else.
//
// To add a server preset: one file engine/preset_<name>.go and a line in engine.Presets(); a router: router_<name>.go and Routers();
// a runtime: runtime_<name>.go and Runtimes().
package containers
