// Package browse says what a directory of a tree has, and what an application would make of it: for people who choose a
// source before there is an application. Nothing is rendered, and no value of a values file is returned.
package browse

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of the answer.
const (
	maxItems      = 1000 // of a listing
	maxValueFiles = 100
	maxVisits     = 2000 // entries looked at for values files
	maxValueDepth = 3    // directories below the chart in which values files are looked for
)

// Tools as the answers name them.
const (
	toolHelm      = "helm"
	toolKustomize = "kustomize"
	toolJsonnet   = "jsonnet"
	toolDirectory = "directory"
)

// Look describes the directory at a path of a tree, one level of it.
func Look(tree source.Tree, at string) (api.RepositoryPaths, error) {
	dir, err := render.CleanPath(at)
	if err != nil {
		return api.RepositoryPaths{}, err
	}
	entries, err := list(tree, dir, at)
	if err != nil {
		return api.RepositoryPaths{}, err
	}
	out := api.RepositoryPaths{
		Revision: tree.Revision(), Path: strings.TrimPrefix(dir, "."), Items: []api.RepositoryPath{}, Tool: toolOf(entries),
	}
	slices.SortStableFunc(entries, func(a, b source.Entry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, e := range entries {
		if len(out.Items) == maxItems {
			out.Truncated = true
			break
		}
		item := api.RepositoryPath{Path: path.Join(dir, e.Name), Type: "file"}
		if e.IsDir() {
			item.Type = "directory"
			// A directory that cannot be listed is still one: errors are reported when a user opens it.
			if below, err := tree.ReadDir(item.Path); err == nil {
				item.Tool = toolOf(below)
			}
		}
		out.Items = append(out.Items, item)
	}
	describe(tree, dir, entries, &out)
	return out, nil
}

// list lists a directory. shown is the path as the user wrote it.
func list(tree source.Tree, dir, shown string) ([]source.Entry, error) {
	entries, err := tree.ReadDir(dir)
	if err == nil {
		return slices.Clone(entries), nil
	}
	e, statErr := tree.Stat(dir)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return nil, fmt.Errorf("%.300q does not exist at revision %.12s: choose another path, or push the directory: %w", shown,
			tree.Revision(), fs.ErrNotExist)
	case statErr != nil:
		return nil, fmt.Errorf("read %.300q: %w", shown, statErr)
	case !e.IsDir():
		return nil, fmt.Errorf("%.300q is a file: choose the directory that it is in", shown)
	}
	return nil, fmt.Errorf("list %.300q: %w", shown, err)
}

// toolOf says what renders a directory with these entries; "" where there is nothing to render.
func toolOf(entries []source.Entry) string {
	switch render.ToolOf(entries) {
	case render.Helm:
		return toolHelm
	case render.Kustomize:
		return toolKustomize
	}
	tool := ""
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		switch path.Ext(e.Name) {
		case ".jsonnet":
			return toolJsonnet
		case ".yaml", ".yml", ".json":
			tool = toolDirectory
		}
	}
	return tool
}

// describe adds what the files of the directory itself say.
func describe(tree source.Tree, dir string, entries []source.Entry, out *api.RepositoryPaths) {
	warn := func(err error) {
		if err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	switch out.Tool {
	case toolHelm:
		var more bool
		out.ValueFiles, more = valueFiles(tree, dir)
		out.Truncated = out.Truncated || more
		chart, more, err := chartOf(tree, dir, entries)
		warn(err)
		out.Truncated = out.Truncated || more
		out.Details = &api.SourceDetails{Helm: chart}
	case toolKustomize:
		k, err := kustomizationOf(tree, dir, entries)
		warn(err)
		out.Details = &api.SourceDetails{Kustomize: k}
	case toolDirectory, toolJsonnet:
		n := 0
		for _, e := range entries {
			if ext := path.Ext(e.Name); !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json", ".jsonnet"}, ext) {
				n++
			}
		}
		out.Details = &api.SourceDetails{Manifests: n}
	}
}

// valueFiles finds what looks like values of a chart: YAML files with values in their name, or in a directory with values or
// env in its name. What the chart itself is made of is left out.
func valueFiles(tree source.Tree, dir string) (files []string, more bool) {
	type open struct {
		rel   string
		depth int
	}
	queue, visits := []open{{"", 0}}, 0
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		entries, err := tree.ReadDir(path.Join(dir, at.rel))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if visits++; visits > maxVisits || len(files) == maxValueFiles {
				return files, true
			}
			rel := path.Join(at.rel, e.Name)
			if e.IsDir() {
				own := at.depth == 0 && slices.Contains([]string{"templates", "charts", "crds"}, e.Name)
				if !own && at.depth < maxValueDepth {
					queue = append(queue, open{rel, at.depth + 1})
				}
				continue
			}
			if ext := path.Ext(e.Name); (ext == ".yaml" || ext == ".yml") && namesValues(at.rel, e.Name) {
				files = append(files, rel)
			}
		}
	}
	return files, false
}

func namesValues(dir, name string) bool {
	in := strings.ToLower(path.Base(dir))
	return strings.Contains(strings.ToLower(name), "values") || dir != "" && (strings.Contains(in, "values") || strings.HasPrefix(in, "env"))
}
