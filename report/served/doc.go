// Package served says what served the model of a run: the engine with its build, and the precision of the model, as far as the plan, the
// server and the machine tell.
package served
