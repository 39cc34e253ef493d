package helm

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
)

type manifests = []object.Manifest

// hookAnnotation marks an object that Helm runs at a certain time.
const hookAnnotation = "helm.sh/hook"

// part is one rendered document with what its place depends on.
type part struct {
	file, text string // of the template, and what it gave
	rank       int    // in Helm's install order
	kind       string
	objects    manifests
}

// collect turns rendered files into objects in the order of helm template: CRDs, objects by install order, hooks by
// install order.
func (j *job) collect(c loaded, files map[string]string) (manifests, error) {
	set := document.NewSet(j.req.Limits.Bytes, j.req.Limits.Objects)
	if !j.opts.SkipCRDs {
		if err := addCRDs(set, c); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(set.Manifests())
	ranks := installRanks(j.helm.installOrder())
	var plain, hooks []part
	var total int64
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if strings.HasSuffix(name, "NOTES.txt") || strings.HasPrefix(path.Base(name), "_") || strings.TrimSpace(text) == "" {
			continue
		}
		if total += int64(len(text)); total > j.req.Limits.Bytes {
			return nil, fmt.Errorf("the templates gave more than %d bytes: %w; split the application", j.req.Limits.Bytes, document.ErrLimit)
		}
		for _, doc := range j.helm.split(text) {
			p, err := addPart(set, name, doc)
			if err != nil {
				return nil, err
			}
			p.rank = rank(ranks, p.kind)
			switch keep, hook := j.classify(p); {
			case !keep, hook && j.noHooks:
			case hook:
				hooks = append(hooks, p)
			default:
				plain = append(plain, p)
			}
		}
	}
	for _, parts := range [][]part{plain, hooks} {
		slices.SortStableFunc(parts, func(a, b part) int {
			return cmp.Or(a.rank-b.rank, strings.Compare(a.kind, b.kind))
		})
	}
	if err := trimLast(plain, j.req.Limits); err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(plain, hooks) {
		out = append(out, p.objects...)
	}
	return out, nil
}

// trimLast reads the last document without white space at its end: Helm prints what is no hook as one text, and trims that.
func trimLast(parts []part, limits render.Limits) error {
	if len(parts) == 0 {
		return nil
	}
	last := &parts[len(parts)-1]
	trimmed := strings.TrimRightFunc(last.text, unicode.IsSpace)
	if trimmed == last.text {
		return nil
	}
	p, err := addPart(document.NewSet(limits.Bytes, limits.Objects), last.file, trimmed)
	last.objects = p.objects
	return err
}

// addCRDs adds the files of crds/ of the chart and of its enabled dependencies.
func addCRDs(set *document.Set, c loaded) error {
	crds := c.crds()
	// Helm loads dependencies in random order; ours must not change from one rendering to the next.
	slices.SortStableFunc(crds, func(a, b crd) int { return strings.Compare(a.file, b.file) })
	for _, f := range crds {
		if err := set.AddYAML(f.file, f.data); err != nil {
			return fmt.Errorf("read CRDs: %w", err)
		}
	}
	return nil
}

// addPart decodes one document and returns what it added. Helm prints a line break behind each.
func addPart(set *document.Set, file, text string) (part, error) {
	before := len(set.Manifests())
	docs, err := document.ReadYAML([]byte(text + "\n"))
	if err == nil {
		err = set.AddDocuments(file, docs)
	}
	if err != nil {
		return part{}, fmt.Errorf("read what template %s gave: %w", file, document.In("output", err))
	}
	p := part{file: file, text: text, objects: set.Manifests()[before:]}
	if len(docs) > 0 {
		p.kind = docs[0].Kind()
	}
	return p, nil
}

// classify distinguishes hooks from other objects, and what helm template leaves out: hooks of a kind that it does not know
// and, if so asked, tests.
func (j *job) classify(p part) (keep, hook bool) {
	if len(p.objects) != 1 || !bytes.Contains(p.objects[0].JSON, []byte(`"`+hookAnnotation+`"`)) {
		return true, false
	}
	obj, err := p.objects[0].Decode()
	if err != nil {
		return true, false
	}
	value, ok := object.Dict(object.Dict(obj, "metadata"), "annotations")[hookAnnotation].(string)
	if !ok {
		return true, false
	}
	test := false
	for event := range strings.SplitSeq(value, ",") {
		switch strings.ToLower(strings.TrimSpace(event)) {
		case "pre-install", "post-install", "pre-upgrade", "post-upgrade", "pre-delete", "post-delete",
			"pre-rollback", "post-rollback":
		case "test", "test-success":
			test = true
		default:
			return false, false
		}
	}
	return !test || !j.opts.SkipTests, true
}

func installRanks(order []string) map[string]int {
	out := make(map[string]int, len(order))
	for i, k := range order {
		out[k] = i
	}
	return out
}

// rank puts kinds that Helm does not know last; those are then in alphabetical order.
func rank(ranks map[string]int, kind string) int {
	if r, ok := ranks[kind]; ok {
		return r
	}
	return len(ranks)
}
