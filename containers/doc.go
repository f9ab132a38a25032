// Package containers starts what a run needs and leaves nothing behind: servers and routers, as containers or as programs, or servers that
// somebody else runs. It is the only package that knows Docker.
//
// The data walks one way. ServerSpecs and RouterSpec make Specs of a plan; Prepare agrees on each with the machine and its container engine;
// Start gives an Instance; Ready waits for its first token and gives its Identity; Stop gives its Exit. Several servers of one plan are one
// Instance with Members, and deal says what each gets of the machine. Everything started carries the owner's mark (a label on containers; on
// processes an environment variable, and a note beside the log for programs that overwrite theirs), and Reap removes what a killed program
// left, by that mark and nothing else.
//
// The values stand in instance; docker, process and endpoint are the runtimes. What is known of the servers themselves is in engine, of
// routers in router, of images in image; imagetest, enginetest and instancetest serve tests only.
//
// To add a server preset: engine/preset_<name>.go and a line in engine.Presets(); a router: router/router_<name>.go and router.Kinds(); a
// runtime: a room <name> with a Runtime, and Runtimes().
package containers
