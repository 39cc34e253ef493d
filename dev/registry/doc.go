// Package registry tests the reader of OCI registries against real registries, which run in the process of the test. It is a module
// of its own: no program of Slipway gets what they need.
package registry
