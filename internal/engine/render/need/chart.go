package need

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source"
)

const (
	maxMetadata = 1 << 20  // bytes of a Chart.yaml or a lock
	maxArchive  = 32 << 20 // bytes that are unpacked to find the name of an archive
	maxArchives = 64 << 20 // of all archives of a chart
)

// Charts lists the charts that the chart in a directory of a tree depends on and that must be fetched: those of Chart.yaml, or
// requirements.yaml, that are from a repository and that charts/ lacks. Where there is a lock, the versions are those of the
// lock, which must fit. Conditions and tags are not looked at: as for Helm, a dependency that is switched off is still there.
func Charts(tree source.Tree, dir string, has func(name string) bool) ([]Need, error) {
	meta, lock, err := metadata(tree, dir)
	if err != nil || meta == nil {
		return nil, err
	}
	wanted, file := meta.Dependencies, "Chart.yaml"
	missing := false
	for _, d := range wanted {
		missing = missing || d != nil && !has(d.Name) && !local(d.Repository)
	}
	if !missing {
		return nil, nil
	}
	if lock != nil {
		if err := inSync(meta, lock); err != nil {
			return nil, err
		}
		wanted, file = lock.Dependencies, "Chart.lock"
	}
	l := &list{}
	for _, d := range wanted {
		if d == nil || has(d.Name) || local(d.Repository) {
			continue
		}
		n := Need{Kind: Chart, URL: d.Repository, Name: d.Name, Revision: d.Version, By: "dependency " + d.Name + " of " + file}
		if err := checkChart(n); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := l.add(n); err != nil {
			return nil, err
		}
	}
	return l.needs, nil
}

// local reports whether a dependency is not fetched: it is in the repository, or must be in charts/.
func local(repository string) bool {
	return repository == "" || strings.HasPrefix(repository, "file://")
}

// metadata reads what a chart says of its dependencies. It returns nil where that cannot be read: Helm says better what is wrong.
func metadata(tree source.Tree, dir string) (*chart.Metadata, *chart.Lock, error) {
	meta := &chart.Metadata{}
	if ok, err := decode(tree, path.Join(dir, "Chart.yaml"), meta); !ok {
		return nil, nil, err
	}
	if meta.APIVersion == "" {
		meta.APIVersion = chart.APIVersionV1
	}
	if _, err := decode(tree, path.Join(dir, "requirements.yaml"), meta); err != nil {
		return nil, nil, err
	}
	if len(meta.Dependencies) == 0 {
		return nil, nil, nil
	}
	lock := &chart.Lock{}
	for _, name := range []string{"requirements.lock", "Chart.lock"} {
		ok, err := decode(tree, path.Join(dir, name), lock)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			return meta, lock, nil
		}
	}
	return meta, nil, nil
}

// decode reads a small file; ok says that it is there and can be read.
func decode(tree source.Tree, name string, into any) (ok bool, err error) {
	raw, err := tree.ReadFile(name)
	if err != nil {
		return false, passing(err)
	}
	return readable(raw) && yaml.Unmarshal(raw, into) == nil, nil
}

func readable(raw []byte) bool {
	return len(raw) <= maxMetadata && document.WithinAliases(raw, maxMetadata)
}

var errOutOfSync = errors.New(`the lock file is out of sync with the dependencies in Chart.yaml or requirements.yaml; ` +
	`run "helm dependency update" and commit the lock file`)

// inSync checks a lock as Helm does: its digest is one over the dependencies and what they were locked to. Helm 2 left the
// latter out.
func inSync(meta *chart.Metadata, lock *chart.Lock) error {
	wanted := make([]*chart.Dependency, len(meta.Dependencies))
	for i, d := range meta.Dependencies {
		if d == nil {
			return errOutOfSync
		}
		one := *d
		// The digest is made once names of repositories stand for their addresses, which the lock holds.
		if _, alias := (Need{Kind: Chart, URL: one.Repository}).Alias(); alias && i < len(lock.Dependencies) && lock.Dependencies[i] != nil {
			one.Repository = lock.Dependencies[i].Repository
		}
		wanted[i] = &one
	}
	if digest([2][]*chart.Dependency{wanted, lock.Dependencies}) == lock.Digest {
		return nil
	}
	if meta.APIVersion == chart.APIVersionV1 &&
		digest(map[string][]*chart.Dependency{"dependencies": meta.Dependencies}) == lock.Digest {
		return nil
	}
	return errOutOfSync
}

func digest(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

var chartName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`)

// checkChart refuses names and addresses that mean something else where they are fetched than to a reader.
func checkChart(n Need) error {
	if !chartName.MatchString(n.Name) || strings.Contains(n.Name, "..") {
		return fmt.Errorf("dependency %.100q: a chart is named with letters, digits, dots and dashes; correct the name", n.Name)
	}
	if len(n.Revision) > 256 {
		return fmt.Errorf("dependency %s: its version has more than 256 bytes; correct it", n.Name)
	}
	if name, ok := n.Alias(); ok {
		if name == "" || len(name) > 256 {
			return fmt.Errorf("dependency %s: %q names no repository; write @ and the name of a repository", n.Name, n.URL)
		}
		return nil
	}
	scheme, rest, ok := strings.Cut(n.URL, "://")
	if !ok || rest == "" || len(n.URL) > maxURL || strings.ContainsAny(n.URL, " \t\r\n\x00") {
		return fmt.Errorf("dependency %s: repository %.300s is no address; write it with https:// or oci://, or as @ and a name",
			n.Name, redact.Addresses(n.URL))
	}
	switch scheme {
	case "https", "http", "oci":
		return nil
	}
	return fmt.Errorf("dependency %s: a repository with %s:// is not supported; use https:// or oci://, or copy the chart into charts/",
		n.Name, scheme)
}

// vendored returns the names of the charts in charts/ of a chart.
func vendored(tree source.Tree, dir string) (map[string]bool, error) {
	meta, _, err := metadata(tree, dir)
	if err != nil || meta == nil {
		return nil, err
	}
	root := path.Join(dir, "charts")
	entries, err := tree.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	left := int64(maxArchives)
	for _, e := range entries {
		name := path.Join(root, e.Name)
		if e.IsDir() {
			var inner chart.Metadata
			if ok, err := decode(tree, path.Join(name, "Chart.yaml"), &inner); err != nil {
				return nil, err
			} else if ok {
				out[inner.Name] = true
			}
			continue
		}
		if path.Ext(e.Name) != ".tgz" || strings.IndexAny(e.Name, "_.") == 0 {
			continue
		}
		raw, err := tree.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if out[archived(raw, &left)] = true; left <= 0 {
			return nil, fmt.Errorf("the archives in %s have more than %d MiB until the Chart.yaml of each is found; unpack the charts",
				root, maxArchives>>20)
		}
	}
	return out, nil
}

// archived returns the name of the chart in an archive, "" where it cannot be read. left is how much may still be unpacked.
func archived(raw []byte, left *int64) string {
	zr, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return ""
	}
	bounded := &io.LimitedReader{R: zr, N: min(maxArchive, *left)}
	defer func(most int64) { *left -= most - bounded.N }(bounded.N)
	tr := tar.NewReader(bounded)
	for {
		h, err := tr.Next()
		if err != nil {
			return ""
		}
		top, base, ok := strings.Cut(path.Clean(strings.ReplaceAll(h.Name, `\`, "/")), "/")
		if !ok || top == "" || base != "Chart.yaml" || h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(tr, maxMetadata))
		var meta chart.Metadata
		if err != nil || !readable(text) || yaml.Unmarshal(text, &meta) != nil {
			return ""
		}
		return meta.Name
	}
}
