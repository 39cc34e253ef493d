package diff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/jq"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Limits of the rules of one Application, or of one key of the settings.
const (
	maxRules   = 500     // rules
	maxPerRule = 500     // fields, expressions or managers in one rule
	maxPointer = 1 << 10 // bytes of one JSON pointer
	maxKinds   = 2_000   // kinds whose rules are remembered
)

// Ignore knows which fields of an Application's objects are ignored: by its own ignoreDifferences, and by the settings
// of the installation. It is safe for concurrent use. The nil Ignore ignores nothing.
type Ignore struct {
	given    []v1alpha1.IgnoreDifference
	settings *Settings
	rules    []*rule

	mu    sync.Mutex
	kinds map[object.Kind]*kindRules
}

// kindRules is what matches one kind: everywhere, and only for some names or namespaces.
type kindRules struct {
	base   *Rules
	wide   []*rule
	narrow []*rule
	mixed  map[string]*Rules // by which of narrow match
}

// rule is one rule as it was written.
type rule struct {
	group, kind     glob
	name, namespace string
	content
}

// content is what a rule says about an object that it matches.
type content struct {
	pointers   [][]string
	jq         []*jq.Path
	managers   []string
	known      []knownField
	aggregated bool // leave out the rules of a ClusterRole that others fill
}

// NewIgnore makes the Ignore of an Application. What is wrong with single rules comes back as errors, which say where;
// the others are still in force. Nil settings are those of an installation without any.
func NewIgnore(given []v1alpha1.IgnoreDifference, settings *Settings) (*Ignore, []error) {
	if settings == nil {
		settings, _ = ParseSettings(nil)
	}
	g := &Ignore{given: given, settings: settings, kinds: map[object.Kind]*kindRules{}}
	var wrong []error
	for i, d := range given {
		where := fmt.Sprintf("spec.ignoreDifferences[%d]", i)
		if i >= maxRules {
			wrong = append(wrong, fmt.Errorf("%s: more than %d rules: those from here on are not in force", where, maxRules))
			break
		}
		r, err := newRule(d.Group, d.Kind)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", where, err))
			continue
		}
		r.name, r.namespace = d.Name, d.Namespace
		for _, err := range r.add(d.JSONPointers, d.JQPathExpressions, d.ManagedFieldsManagers) {
			wrong = append(wrong, fmt.Errorf("%s.%w", where, err))
		}
		if !r.empty() {
			g.rules = append(g.rules, r)
		}
	}
	g.rules = append(g.rules, settings.rules...)
	return g, wrong
}

// Made reports whether NewIgnore would make this Ignore again: it can be kept.
func (g *Ignore) Made(given []v1alpha1.IgnoreDifference, settings *Settings) bool {
	return g != nil && (settings == g.settings || settings == nil && g.settings.standard) &&
		(len(given) == 0 && len(g.given) == 0 || reflect.DeepEqual(given, g.given))
}

func newRule(group, kind string) (*rule, error) {
	if kind == "" {
		return nil, errors.New(`names no kind: set kind, for example "Deployment", or "*" for every kind`)
	}
	r := &rule{}
	var err error
	if r.group, err = compileGlob(group); err != nil {
		return nil, fmt.Errorf("group %w", err)
	}
	if r.kind, err = compileGlob(kind); err != nil {
		return nil, fmt.Errorf("kind %w", err)
	}
	return r, nil
}

// add takes what a rule names, and returns what is wrong with it.
func (c *content) add(pointers, expressions, managers []string) []error {
	var wrong []error
	within := func(field string, list []string) []string {
		if len(list) > maxPerRule {
			wrong = append(wrong, fmt.Errorf("%s: has %d entries; those beyond %d are not in force", field, len(list), maxPerRule))
			list = list[:maxPerRule]
		}
		return list
	}
	for i, text := range within("jsonPointers", pointers) {
		p, err := parsePointer(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("jsonPointers[%d]: %q %w", i, legible.Cut(text, 80), err))
			continue
		}
		c.pointers = append(c.pointers, p)
	}
	for i, text := range within("jqPathExpressions", expressions) {
		p, err := jq.Parse(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("jqPathExpressions[%d]: %q %w", i, legible.Cut(text, 80), err))
			continue
		}
		c.jq = append(c.jq, p)
	}
	for i, name := range within("managedFieldsManagers", managers) {
		if name == "" {
			wrong = append(wrong, fmt.Errorf("managedFieldsManagers[%d]: is empty: name a field manager, as metadata.managedFields does", i))
			continue
		}
		c.managers = append(c.managers, name)
	}
	return wrong
}

func (c *content) empty() bool {
	return len(c.pointers)+len(c.jq)+len(c.managers)+len(c.known) == 0 && !c.aggregated
}

// parsePointer reads a JSON pointer (RFC 6901).
func parsePointer(text string) ([]string, error) {
	switch {
	case text == "":
		return nil, errors.New("is empty: it would ignore the whole object")
	case len(text) > maxPointer:
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), maxPointer)
	case text[0] != '/':
		return nil, errors.New(`does not begin with "/"; a field is written like /spec/replicas`)
	case text == "/":
		return nil, errors.New("names no field")
	}
	parts := strings.Split(text[1:], "/")
	for i, part := range parts {
		if rest := strings.ReplaceAll(strings.ReplaceAll(part, "~0", ""), "~1", ""); strings.Contains(rest, "~") {
			return nil, errors.New("has a ~ that is neither ~0 (for ~) nor ~1 (for /)")
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
	}
	switch parts[0] {
	case "apiVersion", "kind":
		return nil, errors.New("is what identifies an object: that cannot be ignored")
	}
	return parts, nil
}

// For returns the rules for one object; nil when none applies to it.
func (g *Ignore) For(key object.Key) *Rules {
	if g == nil || len(g.rules) == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	kind := key.GroupKind()
	of := g.kinds[kind]
	if of == nil {
		of = g.match(kind)
		if len(g.kinds) < maxKinds {
			g.kinds[kind] = of
		}
	}
	if len(of.narrow) == 0 {
		return of.base
	}
	var which []byte
	var list []*rule
	for i, r := range of.narrow {
		if (r.name == "" || r.name == key.Name) && (r.namespace == "" || r.namespace == key.Namespace) {
			which = binary.AppendUvarint(which, uint64(i))
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return of.base
	}
	rules := of.mixed[string(which)]
	if rules == nil {
		rules = merge(append(list, of.wide...))
		if len(of.mixed) < maxKinds {
			of.mixed[string(which)] = rules
		}
	}
	return rules
}

func (g *Ignore) match(kind object.Kind) *kindRules {
	of := &kindRules{mixed: map[string]*Rules{}}
	for _, r := range g.rules {
		switch {
		case !r.group.match(kind.Group) || !r.kind.match(kind.Kind):
		case r.name == "" && r.namespace == "":
			of.wide = append(of.wide, r)
		default:
			of.narrow = append(of.narrow, r)
		}
	}
	of.base = merge(of.wide)
	return of
}

// merge makes one Rules of all rules that match; nil of none.
func merge(rules []*rule) *Rules {
	if len(rules) == 0 {
		return nil
	}
	out := &Rules{broken: &atomic.Pointer[error]{}}
	for _, r := range rules {
		out.pointers = append(out.pointers, r.pointers...)
		out.jq = append(out.jq, r.jq...)
		out.managers = append(out.managers, r.managers...)
		out.known = append(out.known, r.known...)
		out.aggregated = out.aggregated || r.aggregated
	}
	h := xxhash.New()
	write := func(sort byte, texts ...string) {
		var buf []byte
		buf = append(buf, sort)
		for _, t := range texts {
			buf = append(binary.AppendUvarint(buf, uint64(len(t))), t...)
		}
		_, _ = h.Write(buf)
	}
	for _, p := range out.pointers {
		write('p', p...)
	}
	for _, e := range out.jq {
		write('j', e.String())
	}
	write('m', out.managers...)
	for _, k := range out.known {
		write('k', append([]string{k.typ}, k.path...)...)
	}
	if out.aggregated {
		write('a')
	}
	out.id = max(h.Sum64(), 1)
	return out
}

// Problems returns what went wrong with rules while they were used: expressions that took too many steps, or that give
// values instead of naming fields. They ignore nothing. At most one is reported for each kind.
func (g *Ignore) Problems() []error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []error
	tell := func(kind object.Kind, r *Rules) bool {
		if r == nil {
			return false
		}
		err := r.broken.Load()
		if err != nil {
			out = append(out, fmt.Errorf("ignoreDifferences of %s: %w", kind, *err))
		}
		return err != nil
	}
	for kind, of := range g.kinds {
		if tell(kind, of.base) {
			continue
		}
		for _, r := range of.mixed {
			if tell(kind, r) {
				break
			}
		}
	}
	return out
}
