package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/slipway-gitops/slipway/internal/engine/jq"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Rules are the ignored fields of one object. Rules are immutable. The nil Rules leave out nothing.
type Rules struct {
	content
	id     uint64
	theirs Fields                 // what managers own in the object at hand, once bound
	bound  bool                   // theirs is known
	broken *atomic.Pointer[error] // the first thing that went wrong; shared by all that are bound
}

// ID identifies what the rules say: equal texts have equal IDs, no rules have 0. What managers own is not part of it.
func (r *Rules) ID() uint64 {
	if r == nil {
		return 0
	}
	return r.id
}

// Same reports whether both leave out the same: the texts are equal, and so is what managers own.
func (r *Rules) Same(other *Rules) bool {
	return r.ID() == other.ID() && (r == nil || r.theirs == other.theirs)
}

// Managed reports whether the rules name field managers, so that what they leave out depends on the live object.
func (r *Rules) Managed() bool { return r != nil && len(r.managers) > 0 }

// Holder is one field manager of an object and what it owns.
type Holder struct {
	Manager string
	Fields  Fields
}

// Holders lists the field managers of a live object.
func Holders(obj map[string]any) []Holder {
	var out []Holder
	for entry := range object.Managed(obj) {
		set, _ := entry["fieldsV1"].(map[string]any)
		if name := object.Text(entry, "manager"); name != "" && len(set) > 0 {
			out = append(out, Holder{Manager: name, Fields: internFields(set)})
		}
	}
	return out
}

// Of binds the rules to a live object that has its managed fields: from then on they leave out what the managers that
// they name own in it, in whatever object they are used on.
func (r *Rules) Of(live map[string]any) *Rules {
	if !r.Managed() {
		return r
	}
	union := map[string]any{}
	for entry := range object.Managed(live) {
		set, _ := entry["fieldsV1"].(map[string]any)
		if len(set) > 0 && slices.Contains(r.managers, object.Text(entry, "manager")) {
			union = unite(union, set)
		}
	}
	return r.bind(internFields(union))
}

// OfHolders does what Of does, by the field managers that were noted of a live object.
func (r *Rules) OfHolders(holders []Holder) *Rules {
	if !r.Managed() {
		return r
	}
	union := map[string]any{}
	for _, h := range holders {
		if slices.Contains(r.managers, h.Manager) {
			union = unite(union, h.Fields.set())
		}
	}
	return r.bind(internFields(union))
}

func (r *Rules) bind(theirs Fields) *Rules {
	if r.bound && r.theirs == theirs {
		return r
	}
	out := *r
	out.theirs, out.bound = theirs, true
	return &out
}

// unite is the union of two sets in the format fieldsV1. An empty set is a whole field, and so is its union.
func unite(a, b map[string]any) map[string]any {
	out := shallow(a)
	for name, v := range b {
		have, ok := out[name].(map[string]any)
		sub, _ := v.(map[string]any)
		switch {
		case !ok:
			out[name] = sub
		case len(have) > 0 && len(sub) > 0:
			out[name] = unite(have, sub)
		default:
			out[name] = map[string]any{}
		}
	}
	return out
}

// Strip returns obj without ignored fields, and with those of known types in one spelling. It copies what
// it changes and shares the rest; obj stays as it is.
func (r *Rules) Strip(obj map[string]any) map[string]any {
	if r == nil || obj == nil {
		return obj
	}
	if !r.bound && r.Managed() {
		r = r.Of(obj)
	}
	var out any = obj
	if r.aggregated && isAggregated(obj) {
		out, _ = without(out, []string{"rules"})
	}
	if !r.theirs.none() {
		out = r.theirs.remove(out)
	}
	for _, p := range r.pointers {
		out, _ = without(out, p)
	}
	for _, e := range r.jq {
		// The author of an expression could find a value by it: it sees that there is one, and no more.
		seen, _ := out.(map[string]any)
		places, err := e.Places(any(object.WithoutSecrets(seen)))
		switch {
		case err != nil:
			r.complain(e, err)
		case len(places) > 0:
			named := grove(places, out)
			if named.whole {
				r.complain(e, errWhole)
				continue
			}
			out = prune(out, named)
		}
	}
	for _, k := range r.known {
		out = k.normalize(out, k.path)
	}
	rest, _ := out.(map[string]any)
	return rest
}

// errWhole ends a rule that names the object itself.
var errWhole = errors.New("names the whole object")

// complain notes errors of the rule. That an object lacks what an expression looks for is none.
func (r *Rules) complain(e *jq.Path, err error) {
	if errors.Is(err, jq.ErrFuel) || errors.Is(err, jq.ErrNoPlace) || errors.Is(err, errWhole) {
		said := fmt.Errorf("jqPathExpressions: %q %w; it ignores nothing", legible.Cut(e.String(), 80), err)
		r.broken.CompareAndSwap(nil, &said)
	}
}

func isAggregated(obj map[string]any) bool {
	return object.Text(obj, "kind") == "ClusterRole" && obj["aggregationRule"] != nil &&
		groupOf(object.Text(obj, "apiVersion")) == "rbac.authorization.k8s.io"
}

// without removes what a JSON pointer points at, and reports whether there was something.
func without(value any, path []string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		sub, ok := v[path[0]]
		if !ok {
			return v, false
		}
		if len(path) == 1 {
			out := shallow(v)
			delete(out, path[0])
			return out, true
		}
		next, changed := without(sub, path[1:])
		if !changed {
			return v, false
		}
		out := shallow(v)
		out[path[0]] = next
		return out, true
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return v, false
		}
		if len(path) == 1 {
			return slices.Delete(slices.Clone(v), i, i+1), true
		}
		next, changed := without(v[i], path[1:])
		if !changed {
			return v, false
		}
		out := slices.Clone(v)
		out[i] = next
		return out, true
	}
	return value, false
}

// Match reports whether applying desired would change nothing in live except ignored fields, as far as that can be
// known without the API server. See the function Match.
func (r *Rules) Match(desired, live map[string]any, owned Fields) bool {
	if r == nil {
		return Match(desired, live, owned)
	}
	rest := r.Strip(live)
	return Match(r.Strip(desired), rest, owned.less(live, rest))
}

// Print is the fingerprint of what obj holds in the fields that are owned and count.
func (r *Rules) Print(obj map[string]any, owned Fields) uint64 { return owned.Print(r.Strip(obj)) }

// Hash is the hash of a manifest without ignored fields; that of the manifest itself for no rules.
func (r *Rules) Hash(m object.Manifest) (uint64, error) {
	if r == nil {
		return m.Hash(), nil
	}
	obj, err := m.Decode()
	if err != nil {
		return 0, err
	}
	raw, err := json.Marshal(r.Strip(obj))
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", m.Key, err)
	}
	return xxhash.Sum64(raw), nil
}

// Equal reports whether a dry run of manager's apply, with the answer then, would change nothing in now that counts.
// Both must have their managed fields.
func (r *Rules) Equal(now, then map[string]any, manager string) bool {
	owned, _ := OwnedFields(now, manager)
	would, _ := OwnedFields(then, manager)
	if r == nil {
		return owned == would && owned.Print(now) == owned.Print(then)
	}
	bound := r.Of(now)
	before, after := bound.Strip(now), bound.Strip(then)
	owned, would = owned.less(now, before), would.less(then, after)
	return owned == would && owned.Print(before) == owned.Print(after)
}
