// Package sampled is the room of the report that tells what was sampled beside the load, point by point.
package sampled
