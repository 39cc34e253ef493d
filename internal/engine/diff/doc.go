// Package diff compares what is wanted with what is live, object by object, and says what must change: pure values in,
// pure values out. It also masks secrets wherever a difference is shown.
package diff
