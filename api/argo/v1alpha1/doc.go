// Package v1alpha1 holds the Go types of Argo CD's resources of the API group argoproj.io/v1alpha1: Application,
// AppProject and ApplicationSet.
//
// The JSON names are the contract that users, Argo CD's own CLI and other programs rely on; they are only ever added to.
// Slipway reads these resources as they are and writes status back in the same shape. The types carry data and small
// pure questions about it; what a field makes happen is decided by the engine.
//
// A struct decoded from JSON keeps only the fields it knows. A program that changes an object in a cluster therefore
// sends a patch of the fields it owns and never writes a decoded object back whole.
//
// +kubebuilder:object:generate=true
// +groupName=argoproj.io
package v1alpha1
