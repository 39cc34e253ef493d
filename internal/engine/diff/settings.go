package diff

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Keys of the ConfigMap argocd-cm that say what counts as a difference.
const (
	keyCustomizations = "resource.customizations" // the older form: one block for all kinds
	keyIgnore         = keyCustomizations + ".ignoreDifferences."
	keyKnown          = keyCustomizations + ".knownTypeFields."
	keyCompare        = "resource.compareoptions"
	keyMask           = "resource.sensitive.mask.annotations"
)

// Settings is what the settings of an installation, the ConfigMap argocd-cm, say about differences. It is immutable.
type Settings struct {
	// Mask names the annotations whose values are never shown.
	Mask []string
	// Status lists the kinds whose status fields are ignored: all, crd or none. The engine never sends a status, whatever it
	// says.
	Status string

	rules    []*rule
	standard bool // nothing but defaults
}

// ignoreBlock is the YAML of an ignoreDifferences setting.
type ignoreBlock struct {
	JSONPointers          []string `json:"jsonPointers"`
	JQPathExpressions     []string `json:"jqPathExpressions"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
}

type knownBlock struct {
	Field string `json:"field"`
	Type  string `json:"type"`
}

// overrideBlock is what counts here of one kind in the older form.
type overrideBlock struct {
	IgnoreDifferences string       `json:"ignoreDifferences"`
	KnownTypeFields   []knownBlock `json:"knownTypeFields"`
}

type compareBlock struct {
	IgnoreAggregatedRoles     bool   `json:"ignoreAggregatedRoles"`
	IgnoreResourceStatusField string `json:"ignoreResourceStatusField"`
	// Read so that it is known: watching costs nothing here, so there is nothing to ignore.
	IgnoreDifferencesOnResourceUpdates bool `json:"ignoreDifferencesOnResourceUpdates"`
}

// ParseSettings reads the data of argocd-cm. Each error names the key and what is wrong with it; what could be read is
// still in force. The Settings are never nil.
func ParseSettings(data map[string]string) (*Settings, []error) {
	p := settingsParser{out: &Settings{Status: "all"}, rollout: true}
	for _, key := range sortedTexts(data) {
		value := data[key]
		switch {
		case key == keyCustomizations:
			p.older(value)
		case strings.HasPrefix(key, keyIgnore):
			if r := p.ruleFor(key, strings.TrimPrefix(key, keyIgnore), "_"); r != nil {
				p.ignore(key, r, value)
			}
		case strings.HasPrefix(key, keyKnown):
			var fields []knownBlock
			r := p.ruleFor(key, strings.TrimPrefix(key, keyKnown), "_")
			if r != nil && p.read(key, value, &fields) {
				p.known(key, r, fields)
			}
		case key == keyCompare:
			p.compare(value)
		case key == keyMask:
			p.mask(value)
		}
	}
	p.out.standard = len(p.out.rules)+len(p.out.Mask) == 0 && p.out.Status == "all"
	if p.rollout {
		// As in Argo CD: the pod template of a Rollout is that of Kubernetes.
		if r, err := newRule("argoproj.io", "Rollout"); err == nil {
			r.content.known = []knownField{{path: []string{"spec", "template", "spec"}, typ: typeCore + "PodSpec"}}
			p.out.rules = append(p.out.rules, r)
		}
	}
	return p.out, p.wrong
}

func sortedTexts(data map[string]string) []string {
	keys := make([]string, 0, len(data))
	for k := range data {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

type settingsParser struct {
	out     *Settings
	wrong   []error
	rollout bool // the content of a Rollout is not defined
}

func (p *settingsParser) complain(key, format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Errorf("argocd-cm key %s: "+format, append([]any{key}, args...)...))
}

// read decodes YAML. An unknown field is reported, and the others apply.
func (p *settingsParser) read(key, value string, into any) bool {
	if len(value) > 1<<20 {
		p.complain(key, "has %d bytes; at most %d are allowed", len(value), 1<<20)
		return false
	}
	strict := yaml.UnmarshalStrict([]byte(value), into)
	if strict == nil {
		return true
	}
	if err := yaml.Unmarshal([]byte(value), into); err != nil {
		p.complain(key, "is not the YAML that is expected: %w", err)
		return false
	}
	p.complain(key, "holds what is not understood: %w", strict)
	return true
}

// ruleFor makes the rule for a kind, written as group, separator and kind; a kind alone is of the core group.
func (p *settingsParser) ruleFor(key, name, separator string) *rule {
	group, kind := "", name
	switch parts := strings.Split(name, separator); {
	case name == "all" && separator == "_":
		group, kind = "*", "*"
	case len(parts) == 2:
		group, kind = parts[0], parts[1]
	case len(parts) > 2:
		p.complain(key, "%q is no kind: write group%skind, for example apps%sDeployment, or all", legible.Cut(name, 80), separator, separator)
		return nil
	}
	r, err := newRule(group, kind)
	if err != nil {
		p.complain(key, "%w", err)
		return nil
	}
	return r
}

func (p *settingsParser) ignore(key string, r *rule, value string) {
	var block ignoreBlock
	if !p.read(key, value, &block) {
		return
	}
	for _, err := range r.add(block.JSONPointers, block.JQPathExpressions, block.ManagedFieldsManagers) {
		p.complain(key, "%w", err)
	}
	p.keep(key, r)
}

func (p *settingsParser) known(key string, r *rule, fields []knownBlock) {
	if len(fields) > maxPerRule {
		p.complain(key, "has %d fields; those beyond %d are not in force", len(fields), maxPerRule)
		fields = fields[:maxPerRule]
	}
	for i, f := range fields {
		k, err := newKnownField(f.Field, f.Type)
		if err != nil {
			p.complain(key, "field %d: %w", i+1, err)
			continue
		}
		r.content.known = append(r.content.known, k)
	}
	if r.group.match("argoproj.io") && r.kind.match("Rollout") {
		p.rollout = false
	}
	p.keep(key, r)
}

func (p *settingsParser) keep(key string, r *rule) {
	switch {
	case r.empty():
	case len(p.out.rules) >= maxRules:
		p.complain(key, "there are more than %d rules: this one is not in force", maxRules)
	default:
		p.out.rules = append(p.out.rules, r)
	}
}

// older reads the form in which one key holds everything about all kinds. What is about health and actions is read
// elsewhere.
func (p *settingsParser) older(value string) {
	if len(value) > 1<<20 {
		p.complain(keyCustomizations, "has %d bytes; at most %d are allowed", len(value), 1<<20)
		return
	}
	var blocks map[string]overrideBlock
	if err := yaml.Unmarshal([]byte(value), &blocks); err != nil {
		p.complain(keyCustomizations, "is not the YAML that is expected: %w", err)
		return
	}
	names := make([]string, 0, len(blocks))
	for name := range blocks {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		block, key := blocks[name], keyCustomizations+", "+legible.Cut(name, 80)
		r := p.ruleFor(key, name, "/")
		if r == nil {
			continue
		}
		if block.IgnoreDifferences != "" {
			p.ignore(key, r, block.IgnoreDifferences)
		}
		if len(block.KnownTypeFields) > 0 {
			also, err := newRule(splitKind(name))
			if err == nil {
				p.known(key, also, block.KnownTypeFields)
			}
		}
	}
}

func splitKind(name string) (group, kind string) {
	if group, kind, ok := strings.Cut(name, "/"); ok {
		return group, kind
	}
	return "", name
}

func (p *settingsParser) compare(value string) {
	var block compareBlock
	if !p.read(keyCompare, value, &block) {
		return
	}
	switch block.IgnoreResourceStatusField {
	case "":
	case "all", "crd", "none":
		p.out.Status = block.IgnoreResourceStatusField
	case "off", "false":
		p.out.Status = "none"
	default:
		p.complain(keyCompare, "ignoreResourceStatusField is %q: use all, crd or none", legible.Cut(block.IgnoreResourceStatusField, 40))
	}
	if !block.IgnoreAggregatedRoles {
		return
	}
	if r, err := newRule("rbac.authorization.k8s.io", "ClusterRole"); err == nil {
		r.aggregated = true
		p.keep(keyCompare, r)
	}
}

func (p *settingsParser) mask(value string) {
	for name := range strings.SplitSeq(value, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case len(name) > 400 || len(p.out.Mask) >= maxPerRule:
			p.complain(keyMask, "has a name that is too long, or more than %d names", maxPerRule)
			return
		default:
			p.out.Mask = append(p.out.Mask, name)
		}
	}
}
