// Package item is what nouns share that are about things in the clusters: the server's copy of them, which rights to one
// of them go by, and the agents that get requests and commands about it.
package item
