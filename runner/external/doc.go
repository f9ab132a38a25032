// Package external knows benchmark clients that are other programs: what each can do, and how it is told to measure a point. It starts
// nothing and reads no result: runner starts what Tool.Command gives, and package imported reads what the tool wrote.
//
// To add one: a file client_<name>.go with its Tool, a line in Tools() (tool.go), its name in client.kind of package plan, and where its
// results are new a format in runner/imported/tool.
package external
