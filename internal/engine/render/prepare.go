package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// overrideFile holds overrides for every application that has the directory as its source.
const overrideFile = ".argocd-source.yaml"

// maxOverride bounds an override file, in bytes.
const maxOverride = 1 << 20

// Prepare makes a Request ready for a Renderer: it checks the path, merges the override files that lie in it, finds
// the tool, substitutes build environment variables and fills in limits. Deps says what the substitution used. Tools in
// disabled are not looked for. Preparing a Request twice is wrong: an escaped $$ would be read again.
func Prepare(req Request, disabled ...Tool) (Request, Deps, error) {
	req.Limits = req.Limits.WithDefaults()
	if req.Source.Chart != "" {
		req.Source.Path = "" // the tree is the chart
	}
	clean, err := CleanPath(req.Source.Path)
	if err != nil {
		return req, Deps{}, err
	}
	entries, err := list(req.Tree, clean, req.Source.Path)
	if err != nil {
		return req, Deps{}, err
	}
	src, err := override(req, clean, entries)
	if err != nil {
		return req, Deps{}, err
	}
	env := newEnvironment(req)
	if err := substitute(&src, env); err != nil {
		return req, env.used, err
	}
	src.Path = clean
	req.Source = src
	req.Tool = detect(&src, entries, disabled)
	return req, env.used, nil
}

// CleanPath accepts a path that stays inside the repository, and gives it as a Tree takes it.
func CleanPath(p string) (string, error) {
	if strings.HasPrefix(p, "/") {
		return "", fmt.Errorf("%s: app path is absolute; write it relative to the root of the repository", p)
	}
	clean := path.Clean(p)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%s: app path outside root; write it relative to the root of the repository", p)
	}
	if strings.ContainsRune(clean, 0) {
		return "", errors.New("app path contains a zero byte")
	}
	return clean, nil
}

// list lists the directory of a source. shown is the path as the user wrote it.
func list(tree source.Tree, clean, shown string) ([]source.Entry, error) {
	entries, err := tree.ReadDir(clean)
	if err == nil {
		return entries, nil
	}
	e, statErr := tree.Stat(clean)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: app path does not exist; correct spec.source.path or push the directory", shown)
	case statErr != nil:
		return nil, fmt.Errorf("read app path %s: %w", shown, statErr)
	case !e.IsDir():
		return nil, fmt.Errorf("%s: app path is not a directory", shown)
	}
	return nil, fmt.Errorf("list app path %s: %w", shown, err)
}

// override merges the override files of the source's directory into the source's tool blocks: first the one for all
// applications, then the one for this application. Everything else in them has no effect.
func override(req Request, dir string, entries []source.Entry) (v1alpha1.ApplicationSource, error) {
	merged := req.Source
	names := []string{overrideFile}
	if req.App.Name != "" {
		names = append(names, ".argocd-source-"+req.App.Name+".yaml")
	}
	found := false
	for _, name := range names {
		if !slices.ContainsFunc(entries, func(e source.Entry) bool { return e.Name == name && !e.IsDir() }) {
			continue
		}
		found = true
		file := path.Join(dir, name)
		patch, err := req.Tree.ReadFile(file)
		if err != nil {
			return merged, fmt.Errorf("read %s: %w", file, err)
		}
		if merged, err = merge(merged, patch); err != nil {
			return merged, document.In(file, err)
		}
	}
	if !found {
		return copyOf(merged)
	}
	out := req.Source
	out.Helm, out.Kustomize, out.Directory, out.Plugin = merged.Helm, merged.Kustomize, merged.Directory, merged.Plugin
	return out, nil
}

func merge(src v1alpha1.ApplicationSource, patch []byte) (v1alpha1.ApplicationSource, error) {
	var out v1alpha1.ApplicationSource
	if len(patch) > maxOverride {
		return out, fmt.Errorf("the file is larger than %d MiB", maxOverride>>20)
	}
	asJSON, err := document.ToJSON(patch)
	if err != nil {
		return out, err
	}
	base, err := json.Marshal(src)
	if err != nil {
		return out, fmt.Errorf("encode source: %w", err)
	}
	raw, err := jsonpatch.MergePatch(base, asJSON)
	if err != nil {
		return out, fmt.Errorf("merge into spec.source: %w", err)
	}
	if err := strict.Decode(raw, &out, strict.Unknown); err != nil {
		return out, fmt.Errorf("the file does not fit an application source: %w", err)
	}
	return out, nil
}

// copyOf keeps the caller's source untouched by substitution.
func copyOf(src v1alpha1.ApplicationSource) (v1alpha1.ApplicationSource, error) {
	if src.Helm == nil && src.Kustomize == nil && src.Directory == nil && src.Plugin == nil {
		return src, nil
	}
	return *src.DeepCopy(), nil
}

// ToolOf is the tool that renders a directory with these entries, where nothing but its files says so.
func ToolOf(entries []source.Entry) Tool { return detect(&v1alpha1.ApplicationSource{}, entries, nil) }

// detect finds the tool: the block that is given, else what the files of the directory say. Where a directory has
// both a chart and a kustomization, the kustomization wins.
func detect(src *v1alpha1.ApplicationSource, entries []source.Entry, disabled []Tool) Tool {
	found := Tool(src.ExplicitType())
	if found == "" && src.Chart != "" && !slices.Contains(disabled, Helm) {
		found = Helm
	}
	if found == "" {
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			switch e.Name {
			case "Chart.yaml":
				if found == "" && !slices.Contains(disabled, Helm) {
					found = Helm
				}
			case "kustomization.yaml", "kustomization.yml", "Kustomization":
				if !slices.Contains(disabled, Kustomize) {
					found = Kustomize
				}
			}
		}
	}
	if found == "" || slices.Contains(disabled, found) {
		return Directory
	}
	return found
}
