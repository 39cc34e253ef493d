package parity

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

type diffSet struct {
	Objects map[string]json.RawMessage
	Cases   []struct {
		ID, Mode                    string
		Config, Live, PredictedLive diffObject
		Options                     struct {
			IgnoreAggregatedRoles bool
			IgnoreMutationWebhook *bool
			IgnorePaths           []string
		}
		Expect struct {
			Modified                  *bool
			Predicted, NormalizedLive []check
			Lines                     []struct {
				At            string
				Live, Desired any
			}
		}
	}
	Masking       []maskCase
	Normalization []struct {
		ID     string
		Object json.RawMessage
		Expect []check
	}
	WebhookPathRemoval []struct {
		ID                         string
		Candidates, Owned, Removed [][]string
	}
}

type diffObject struct {
	File, Ref string
	Object    json.RawMessage
	Patch     json.RawMessage
	None      bool
}

func (o diffObject) load(t *testing.T, root string, set diffSet) map[string]any {
	t.Helper()
	raw := []byte(o.Object)
	var err error
	switch {
	case o.None:
		return nil
	case o.File != "":
		raw, err = yaml.YAMLToJSON(read(t, root, o.File))
	case o.Ref != "":
		raw = set.Objects[o.Ref]
	}
	if err == nil && o.Patch != nil {
		var patch jsonpatch.Patch
		if patch, err = jsonpatch.DecodePatch(o.Patch); err == nil {
			raw, err = patch.Apply(raw)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, raw)
}

func decode(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	obj, err := object.DecodeJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// check is one statement about a document.
type check struct {
	At                      *string
	Equals                  any
	Length                  *int
	Absent, Present, Empty  bool
	ZeroOrAbsent            bool
	Contains                map[string]any
	TextContains, TextLacks string
}

// fails says what of the statement is not so, or returns "".
func (c check) fails(doc map[string]any) string {
	raw, err := json.Marshal(doc)
	if err != nil {
		return err.Error()
	}
	if c.At == nil {
		if c.TextContains != "" && !strings.Contains(string(raw), c.TextContains) {
			return "lacks " + c.TextContains
		}
		if c.TextLacks != "" && strings.Contains(string(raw), c.TextLacks) {
			return "contains " + c.TextLacks
		}
		return ""
	}
	v, ok := at(doc, *c.At)
	wrong := c.Absent && ok || c.Present && !ok || c.Equals != nil && !equalJSON(v, c.Equals)
	switch l := v.(type) {
	case []any:
		wrong = wrong || c.Length != nil && len(l) != *c.Length || c.Empty && len(l) > 0
		wrong = wrong || c.Contains != nil && !slices.ContainsFunc(l, func(item any) bool { return includes(item, c.Contains) })
	case map[string]any:
		wrong = wrong || c.Length != nil && len(l) != *c.Length || c.Empty && len(l) > 0
	default:
		wrong = wrong || c.Length != nil || c.Contains != nil || c.ZeroOrAbsent && ok && v != "0"
	}
	if wrong {
		return fmt.Sprintf("%s is %v (there: %v)", *c.At, v, ok)
	}
	return ""
}

func includes(item any, want map[string]any) bool {
	m, _ := item.(map[string]any)
	for k, v := range want {
		if !equalJSON(m[k], v) {
			return false
		}
	}
	return true
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func at(value any, pointer string) (any, bool) {
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch v := value.(type) {
		case map[string]any:
			sub, ok := v[part]
			if !ok {
				return nil, false
			}
			value = sub
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

func diffs(t *testing.T) (diffSet, string) {
	t.Helper()
	root := dir(t, "diff")
	var set diffSet
	loadYAML(t, &set, root, "index.yaml")
	return set, root
}

func TestDiffsAgree(t *testing.T) {
	t.Parallel()
	set, root := diffs(t)
	for _, c := range set.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			config, live := c.Config.load(t, root, set), c.Live.load(t, root, set)
			opts := diff.CompareOptions{
				IgnorePaths: c.Options.IgnorePaths, IgnoreAggregatedRoles: c.Options.IgnoreAggregatedRoles,
				KeepMutations: c.Options.IgnoreMutationWebhook != nil && !*c.Options.IgnoreMutationWebhook,
			}
			var got diff.Result
			switch c.Mode {
			case "client":
				got = diff.Compare(config, live, opts)
			case "structuredMerge":
				opts.Manager = "argocd-controller"
				got = diff.Compare(config, live, opts)
			case "serverSide":
				opts.Manager = "argocd-controller"
				got = diff.CompareDryRun(live, c.PredictedLive.load(t, root, set), opts)
			}
			if c.Expect.Modified != nil && got.Modified != *c.Expect.Modified {
				text, err := diff.Unified(got.Normalized, got.Predicted, diff.Text{From: "live", To: "predicted", Context: 3})
				t.Errorf("modified %v:\n%s %v", got.Modified, text, err)
			}
			for _, s := range c.Expect.Predicted {
				if wrong := s.fails(got.Predicted); wrong != "" {
					t.Errorf("predicted: %s", wrong)
				}
			}
			for _, s := range c.Expect.NormalizedLive {
				if wrong := s.fails(got.Normalized); wrong != "" {
					t.Errorf("live: %s", wrong)
				}
			}
			for _, l := range c.Expect.Lines {
				was, _ := at(got.Normalized, l.At)
				will, _ := at(got.Predicted, l.At)
				if !equalJSON(was, l.Live) || !equalJSON(will, l.Desired) {
					t.Errorf("%s: %v becomes %v", l.At, was, will)
				}
			}
		})
	}
}

func TestNormalizationAgrees(t *testing.T) {
	t.Parallel()
	set, _ := diffs(t)
	for _, c := range set.Normalization {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			doc := diff.Normalize(decode(t, c.Object), diff.CompareOptions{})
			for _, s := range c.Expect {
				if wrong := s.fails(doc); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
}

// TestWebhookChangesAreTakenOutAsAgreed builds an object of the candidates and the owned fields, all of them new.
func TestWebhookChangesAreTakenOutAsAgreed(t *testing.T) {
	t.Parallel()
	set, _ := diffs(t)
	for _, c := range set.WebhookPathRemoval {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			answer, fields := map[string]any{}, map[string]any{}
			for _, path := range append(slices.Clone(c.Candidates), c.Owned...) {
				grow(answer, path, "")
			}
			for _, path := range c.Owned {
				grow(fields, path, "f:")
			}
			answer["metadata"] = map[string]any{"managedFields": []any{
				map[string]any{"manager": "m", "operation": "Apply", "fieldsV1": fields},
			}}
			got := diff.CompareDryRun(map[string]any{}, answer, diff.CompareOptions{Manager: "m"}).Predicted
			var removed [][]string
			for _, path := range c.Candidates {
				if _, ok := at(got, strings.Join(path, "/")); !ok {
					removed = append(removed, path)
				}
			}
			if delta := cmp.Diff(c.Removed, removed, cmpopts.EquateEmpty()); delta != "" {
				t.Error(delta)
			}
		})
	}
}

func grow(m map[string]any, path []string, prefix string) {
	for _, name := range path {
		sub, ok := m[prefix+name].(map[string]any)
		if !ok {
			sub = map[string]any{}
			m[prefix+name] = sub
		}
		m = sub
	}
}

type maskSide struct {
	Data, StringData map[string]any
	LastApplied      *maskSide
	LastAppliedText  string
}

type maskCase struct {
	ID                                              string
	Raw, NoTarget                                   bool
	Target, Live                                    *maskSide
	HideAnnotations                                 []string
	Annotations, TargetAnnotations, LiveAnnotations map[string]any
	Expect                                          struct {
		Target, Live                                    *maskSide
		Annotations, TargetAnnotations, LiveAnnotations map[string]any
	}
}

func (s *maskSide) secret(t *testing.T, raw bool) map[string]any {
	t.Helper()
	data := map[string]any{}
	for k, v := range s.Data {
		if text, ok := v.(string); ok && !raw {
			v = base64.StdEncoding.EncodeToString([]byte(text))
		}
		data[k] = v
	}
	obj := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "data": data}
	if s.StringData != nil {
		obj["stringData"] = s.StringData
	}
	text := s.LastAppliedText
	if s.LastApplied != nil {
		was, err := json.Marshal(s.LastApplied.secret(t, raw))
		if err != nil {
			t.Fatal(err)
		}
		text = string(was)
	}
	if text != "" {
		obj["metadata"] = map[string]any{"name": "s", "annotations": map[string]any{lastApplied: text}}
	}
	return obj
}

func (s *maskSide) compare(t *testing.T, got map[string]any) {
	t.Helper()
	if s == nil {
		return
	}
	if s.Data != nil {
		if delta := cmp.Diff(s.Data, got["data"]); delta != "" {
			t.Error(delta)
		}
	}
	text, _ := at(got, "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration")
	if s.LastAppliedText != "" && text != s.LastAppliedText {
		t.Errorf("last applied: %v", text)
	}
	if s.LastApplied != nil {
		was, _ := text.(string)
		s.LastApplied.compare(t, decode(t, []byte(was)))
	}
}

func annotated(annotations map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "annotations": annotations}}
}

func TestMaskingAgrees(t *testing.T) {
	t.Parallel()
	set, _ := diffs(t)
	for _, c := range set.Masking {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if c.Target != nil {
				target, live := diff.Mask(c.Target.secret(t, c.Raw), c.Live.secret(t, c.Raw), nil)
				c.Expect.Target.compare(t, target)
				c.Expect.Live.compare(t, live)
				return
			}
			target, live := annotated(c.TargetAnnotations), annotated(c.LiveAnnotations)
			if c.Annotations != nil {
				target, live = annotated(c.Annotations), annotated(c.Annotations)
			}
			if c.NoTarget {
				target = nil
			}
			target, live = diff.Mask(target, live, c.HideAnnotations)
			for name, want := range map[string]map[string]any{"target": c.Expect.TargetAnnotations, "live": c.Expect.LiveAnnotations} {
				got := map[string]map[string]any{"target": target, "live": live}[name]
				if c.Expect.Annotations != nil {
					want = c.Expect.Annotations
				}
				for k, v := range want {
					masked, _ := at(got, "/metadata/annotations/"+strings.ReplaceAll(k, "/", "~1"))
					if got != nil && !equalJSON(masked, v) {
						t.Errorf("%s %s: %v, want %v", name, k, masked, v)
					}
				}
			}
		})
	}
}
