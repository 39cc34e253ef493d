// Package demo holds what `slipway up` shows: a repository of five applications, one of each kind of source, and the
// Application resources that follow it.
package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed all:repo
var repository embed.FS

//go:embed applications.yaml
var applications string

// placeholder stands for the repository's URL in applications.yaml.
const placeholder = "DEMO"

// Repository returns the files of the demo repository.
func Repository() (fs.FS, error) {
	sub, err := fs.Sub(repository, "repo")
	if err != nil {
		return nil, fmt.Errorf("open demo repository: %w", err)
	}
	return sub, nil
}

// Applications returns the Application resources, with repoURL as the address of the demo repository. They have no
// namespace yet.
func Applications(repoURL string) ([]map[string]any, error) {
	var out []map[string]any
	for doc := range strings.SplitSeq(applications, "\n---\n") {
		var app map[string]any
		if err := yaml.Unmarshal([]byte(doc), &app); err != nil {
			return nil, fmt.Errorf("read demo applications: %w", err)
		}
		spec, _ := app["spec"].(map[string]any)
		pointAt(spec["source"], repoURL)
		sources, _ := spec["sources"].([]any)
		for _, s := range sources {
			pointAt(s, repoURL)
		}
		out = append(out, app)
	}
	return out, nil
}

func pointAt(source any, repoURL string) {
	if s, ok := source.(map[string]any); ok && s["repoURL"] == placeholder {
		s["repoURL"] = repoURL
	}
}
