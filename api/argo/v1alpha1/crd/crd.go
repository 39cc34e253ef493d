// Package crd holds the CustomResourceDefinitions of the resources in package v1alpha1, generated from its types.
//
// Their schemas check the types of the fields they name and keep every field they do not name, so that an object
// written for a newer version of the contract loses nothing.
package crd

import (
	"embed"
	"fmt"
	"io/fs"
)

const (
	// AnnotationVersion is on every manifest of this package and on none of Argo CD's: its value shows whether a
	// definition found in a cluster is ours, and which one.
	AnnotationVersion = "slipway.io/crd-version"
	// Version is the value of AnnotationVersion. It counts up by one with every change of the schemas; the number is
	// written at the types of package v1alpha1.
	Version = 1
)

// files are the manifests; embedded files cannot be changed.
//
//go:embed *.gen.yaml
var files embed.FS

// Manifests returns the definitions as YAML, one document each, sorted by plural name: applications, applicationsets,
// appprojects. The slices are the caller's own.
func Manifests() ([][]byte, error) {
	names, err := fs.Glob(files, "*.gen.yaml")
	if err != nil {
		return nil, fmt.Errorf("list resource definitions: %w", err)
	}
	out := make([][]byte, 0, len(names))
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read resource definition %s: %w", name, err)
		}
		out = append(out, raw)
	}
	return out, nil
}
