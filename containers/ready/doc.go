// Package ready waits until a server streams a token: stage by stage, each with its own limit, with its log followed beside it, so that
// what it loads is told and a server that does nothing any more is not waited for.
package ready
