// Package application is about one application: its state and history, what a person may do with it and its objects, and its
// streams: logs, terminals and trees.
package application
