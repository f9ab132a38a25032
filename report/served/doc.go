// Package served says what served the model of a run: engine, build, precision, what ran beside it and how much it bore, as far as the plan, the
// server and the machine tell.
package served
