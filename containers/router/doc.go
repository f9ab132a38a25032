// Package router knows the programs that stand between client and servers and keep a session on one server: how each is told its port, its
// servers and the header of the session, and how much it must hold. It is plain data: nothing is started here.
package router
