package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/source"
)

// errNoKustomization is what a directory without a kustomization gives.
var errNoKustomization = errors.New("kustomization file not found in the path; check spec.source.path")

// edit applies spec.source.kustomize to the kustomization, in memory.
func (b *build) edit() error {
	name, raw, err := b.kustomization()
	if err != nil {
		return err
	}
	if !b.edits() {
		return nil
	}
	var k types.Kustomization
	if err := k.Unmarshal(raw); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	k.FixKustomization()
	steps := []func(*types.Kustomization) error{
		b.setNames, b.setImages, b.setReplicas, b.addLabels, b.addAnnotations, b.addPatches, b.addComponents,
	}
	for _, step := range steps {
		if err := step(&k); err != nil {
			return err
		}
	}
	if raw, err = yaml.Marshal(k); err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	b.fs.overlay[path.Join(b.own.dir, name)] = raw
	return nil
}

// kustomization finds the file. Where several are there, Kustomize refuses them later.
func (b *build) kustomization() (string, []byte, error) {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		name := treeName(path.Join(b.dir, base))
		raw, err := b.req.Tree.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, source.ErrEscape) {
			return "", nil, &refusal{fmt.Errorf("read %s: %w", name, err)}
		}
		return name, raw, err
	}
	return "", nil, errNoKustomization
}

// edits reports whether there is anything to change.
func (b *build) edits() bool {
	o := b.opts
	return o.NamePrefix != "" || o.NameSuffix != "" || o.Namespace != "" || len(o.Images) > 0 || len(o.Replicas) > 0 ||
		len(o.CommonLabels) > 0 || len(o.CommonAnnotations) > 0 || len(o.Patches) > 0 || len(o.Components) > 0
}

func (b *build) setNames(k *types.Kustomization) error {
	if b.opts.NamePrefix != "" {
		k.NamePrefix = b.opts.NamePrefix
	}
	if b.opts.NameSuffix != "" {
		k.NameSuffix = b.opts.NameSuffix
	}
	if b.opts.Namespace != "" {
		k.Namespace = b.opts.Namespace
	}
	return nil
}

// setImages replaces the entries of the same name. A part given as * keeps what the kustomization has.
func (b *build) setImages(k *types.Kustomization) error {
	if len(b.opts.Images) == 0 {
		return nil
	}
	images := map[string]types.Image{}
	for _, arg := range b.opts.Images {
		img, err := parseImage(arg)
		if err != nil {
			return err
		}
		images[img.Name] = img
	}
	for _, have := range k.Images {
		want, ok := images[have.Name]
		if !ok {
			images[have.Name] = have
			continue
		}
		keep(&want.NewName, have.NewName)
		keep(&want.NewTag, have.NewTag)
		keep(&want.Digest, have.Digest)
		images[have.Name] = want
	}
	k.Images = k.Images[:0]
	for _, img := range images {
		keep(&img.NewName, "")
		keep(&img.NewTag, "")
		keep(&img.Digest, "")
		k.Images = append(k.Images, img)
	}
	slices.SortFunc(k.Images, func(a, b types.Image) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func keep(field *string, have string) {
	if *field == "*" {
		*field = have
	}
}

// parseImage reads [name=]newName[:tag][@digest]. Without name= only the tag or the digest of newName is replaced, and
// one of them must be there.
func parseImage(arg string) (types.Image, error) {
	name, rest, renamed := strings.Cut(arg, "=")
	if !renamed {
		rest = arg
	}
	image, digest, _ := strings.Cut(rest, "@")
	tag := ""
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		image, tag = image[:i], image[i+1:]
	}
	if digest != "" {
		tag = "" // a digest says it all, and Kustomize takes only one of them
	}
	if image == "" || renamed && name == "" || !renamed && tag == "" && digest == "" {
		return types.Image{}, fmt.Errorf("image %q is malformed; write it as name=newName:tag, name:tag or name@digest", arg)
	}
	out := types.Image{Name: image, NewTag: tag, Digest: digest}
	if renamed {
		out.Name = name
		if image != name {
			out.NewName = image
		}
	}
	return out, nil
}

func (b *build) setReplicas(k *types.Kustomization) error {
	for _, r := range b.opts.Replicas {
		n, err := count(r.Count)
		if err != nil {
			return fmt.Errorf("replicas of %s: %w", r.Name, err)
		}
		want := types.Replica{Name: r.Name, Count: n}
		if i := slices.IndexFunc(k.Replicas, func(have types.Replica) bool { return have.Name == r.Name }); i >= 0 {
			k.Replicas[i] = want
			continue
		}
		k.Replicas = append(k.Replicas, want)
	}
	return nil
}

func count(v intstr.IntOrString) (int64, error) {
	if v.Type == intstr.Int {
		return int64(v.IntVal), nil
	}
	n, err := strconv.ParseInt(v.StrVal, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("expected integer value for count. Received: %s", v.StrVal)
	}
	return n, nil
}

func (b *build) addLabels(k *types.Kustomization) error {
	if len(b.opts.CommonLabels) == 0 {
		return nil
	}
	labels := maps.Clone(b.opts.CommonLabels)
	if b.opts.LabelIncludeTemplates && !b.opts.LabelWithoutSelector {
		return errors.New("labelIncludeTemplates needs labelWithoutSelector; set it too")
	}
	if !b.opts.LabelWithoutSelector {
		return addTo(&k.CommonLabels, labels, b.opts.ForceCommonLabels, "label")
	}
	for i := range k.Labels {
		l := &k.Labels[i]
		if !l.IncludeSelectors && l.IncludeTemplates == b.opts.LabelIncludeTemplates {
			return addTo(&l.Pairs, labels, b.opts.ForceCommonLabels, "label")
		}
	}
	k.Labels = append(k.Labels, types.Label{Pairs: labels, IncludeTemplates: b.opts.LabelIncludeTemplates})
	return nil
}

func (b *build) addAnnotations(k *types.Kustomization) error {
	if len(b.opts.CommonAnnotations) == 0 {
		return nil
	}
	return addTo(&k.CommonAnnotations, b.opts.CommonAnnotations, b.opts.ForceCommonAnnotations, "annotation")
}

// addTo adds pairs to a map of the kustomization; one that is there is replaced only by force.
func addTo(into *map[string]string, add map[string]string, force bool, what string) error {
	if *into == nil {
		*into = map[string]string{}
	}
	for key, v := range add {
		if _, ok := (*into)[key]; ok && !force {
			return fmt.Errorf("%s %s already in kustomization file; remove it there or set the force option of common %ss", what, key, what)
		}
		(*into)[key] = v
	}
	return nil
}

func (b *build) addPatches(k *types.Kustomization) error {
	for _, p := range b.opts.Patches {
		add := types.Patch{Path: p.Path, Patch: p.Patch, Target: selector(p.Target)}
		if len(p.Options) > 0 {
			add.Options = &types.PatchArgs{
				AllowNameChange: p.Options["allowNameChange"],
				AllowKindChange: p.Options["allowKindChange"],
			}
		}
		k.Patches = append(k.Patches, add)
	}
	return nil
}

func selector(s *v1alpha1.KustomizeSelector) *types.Selector {
	if s == nil {
		return nil
	}
	return &types.Selector{
		ResId: resid.ResId{
			Gvk:       resid.Gvk{Group: s.Group, Version: s.Version, Kind: s.Kind},
			Name:      s.Name,
			Namespace: s.Namespace,
		},
		AnnotationSelector: s.AnnotationSelector,
		LabelSelector:      s.LabelSelector,
	}
}

// addComponents adds component directories, patterns expanded. Without ignoreMissingComponents one that is not there
// fails.
func (b *build) addComponents(k *types.Kustomization) error {
	for _, c := range b.opts.Components {
		if need.IsRemote(c) {
			if !slices.Contains(k.Components, c) {
				k.Components = append(k.Components, c)
			}
			continue
		}
		from := b.root()
		if path.IsAbs(c) {
			return fmt.Errorf("component %s is absolute; write it relative to spec.source.path", c)
		}
		if rel := path.Clean(path.Join(b.dir, c)); rel == ".." || strings.HasPrefix(rel, "../") {
			return fmt.Errorf("component %s is outside repository root; only directories of the repository can be used", c)
		}
		found, err := b.fs.Glob(path.Join(from, c))
		if err != nil {
			return fmt.Errorf("component %s: %w", c, err)
		}
		if len(found) == 0 {
			if b.opts.IgnoreMissingComponents {
				continue
			}
			return fmt.Errorf("component %s is not in the repository; check the path or set ignoreMissingComponents", c)
		}
		names := []string{c}
		if strings.ContainsAny(c, `*?[\`) {
			names = names[:0]
			for _, f := range found {
				names = append(names, relative(from, f))
			}
		}
		for _, n := range names {
			if !slices.Contains(k.Components, n) {
				k.Components = append(k.Components, n)
			}
		}
	}
	return nil
}

// relative returns the path from one clean absolute directory to a name.
func relative(from, to string) string {
	up := ""
	for to != from && !strings.HasPrefix(to, strings.TrimSuffix(from, "/")+"/") {
		up, from = up+"../", path.Dir(from)
	}
	return up + strings.TrimPrefix(strings.TrimPrefix(to, from), "/")
}
