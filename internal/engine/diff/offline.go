package diff

import (
	"encoding/json"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Result is a comparison for people: two documents, and whether they differ in what counts.
type Result struct {
	Modified   bool
	Predicted  map[string]any // what would be live after the desired object was applied
	Normalized map[string]any // what is live; nil where there is nothing
}

// Less returns the comparison without what rules ignore.
func (r Result) Less(rules *Rules) Result {
	if rules == nil {
		return r
	}
	out := Result{Predicted: rules.Strip(r.Predicted), Normalized: rules.Strip(r.Normalized)}
	out.Modified = r.Modified && (r.Normalized == nil || r.Predicted == nil || !sameValue(out.Predicted, out.Normalized))
	return out
}

// maxLastApplied bounds the annotation that is decoded, in bytes: what all annotations together may have.
const maxLastApplied = 256 << 10

// Compare predicts, without an API server, what applying desired to live would give. Fields that live has and desired
// does not mention stay, since they may be defaults, unless they are known to have been applied before. Neither object
// is changed. A nil desired object is never a difference: whether to prune is decided elsewhere.
func Compare(desired, live map[string]any, opts CompareOptions) Result {
	want, have := Normalize(desired, opts), Normalize(live, opts)
	switch {
	case desired == nil:
		return Result{Predicted: have, Normalized: have}
	case live == nil:
		return Result{Modified: true, Predicted: want}
	}
	before, partial := applied(live, opts)
	m := merger{custom: !servedByKubernetes(groupOf(object.Text(desired, "apiVersion"))), partial: partial}
	predicted := m.fields(want, have, before)
	serviceDefaults(predicted)
	serviceDefaults(have)
	return Result{
		Modified:   !sameValue(dropPaths(predicted, opts.IgnorePaths), dropPaths(have, opts.IgnorePaths)),
		Predicted:  predicted,
		Normalized: have,
	}
}

// serviceDefaults fills in what every Service has. A Service is the one common object that often has such a field taken
// out of its manifest, and would otherwise be shown without a type.
func serviceDefaults(obj map[string]any) {
	spec, ok := obj["spec"].(map[string]any)
	if !ok || object.Text(obj, "kind") != "Service" || object.Text(obj, "apiVersion") != "v1" {
		return
	}
	if spec = shallow(spec); spec["type"] == nil {
		spec["type"] = "ClusterIP"
	}
	if spec["sessionAffinity"] == nil {
		spec["sessionAffinity"] = "None"
	}
	if spec["internalTrafficPolicy"] == nil && spec["type"] != "ExternalName" {
		spec["internalTrafficPolicy"] = "Cluster"
	}
	obj["spec"] = spec
}

// applied returns what was applied to live before, as far as live shows. The second result says that it holds only the
// fields of one of several owners.
func applied(live map[string]any, opts CompareOptions) (before map[string]any, partial bool) {
	if opts.Manager != "" {
		if mine, others := ownedSets(live, opts.Manager); mine != nil {
			for _, o := range others {
				mine = withoutSet(mine, o)
			}
			values, _ := ownedValue(live, mine).(map[string]any)
			return pruneEmpty(Normalize(values, opts)), true
		}
	}
	raw := object.Annotation(live, lastApplied)
	if raw == "" || len(raw) > maxLastApplied {
		return nil, false
	}
	var obj map[string]any
	if json.Unmarshal([]byte(raw), &obj) != nil || obj == nil {
		return nil, false
	}
	obj["apiVersion"], obj["kind"] = live["apiVersion"], live["kind"]
	return pruneEmpty(Normalize(obj, opts)), false
}

// pruneEmpty drops empty maps: having once sent an empty one is no reason to delete what was filled into it.
func pruneEmpty(m map[string]any) map[string]any {
	for k, v := range m {
		sub, ok := v.(map[string]any)
		if ok && len(pruneEmpty(sub)) == 0 {
			delete(m, k)
		}
	}
	return m
}

// CompareDryRun compares live with what the API server answered to a dry run of the apply. Unless KeepMutations is set,
// what changed without Manager owning it is put back: an admission webhook did it, and would do it again.
func CompareDryRun(live, answer map[string]any, opts CompareOptions) Result {
	have, predicted := Normalize(live, opts), Normalize(answer, opts)
	if live == nil || answer == nil {
		return Result{Modified: live == nil && answer != nil, Predicted: predicted, Normalized: have}
	}
	if !opts.KeepMutations {
		now, _ := ownedSets(answer, opts.Manager)
		past, _ := ownedSets(live, opts.Manager)
		if now != nil {
			predicted, _ = restore(predicted, have, now, past).(map[string]any)
		}
	}
	have, predicted = dropPaths(have, opts.IgnorePaths), dropPaths(predicted, opts.IgnorePaths)
	return Result{Modified: !sameValue(predicted, have), Predicted: predicted, Normalized: have}
}
