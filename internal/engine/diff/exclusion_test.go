package diff

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestKindsAreLeftAloneAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	const own, other = "https://kubernetes.default.svc", "https://prod.example.com:6443"
	policy := object.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
	ingress := object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}
	config := object.Kind{Kind: "ConfigMap"}
	for _, test := range []struct {
		name                   string
		exclusions, inclusions string
		kind                   object.Kind
		server                 string
		want                   bool
	}{
		{"nothing is set", "", "", config, own, false},
		{"an empty list", "[]", "[]", config, own, false},
		{"events, always", "", "", object.Kind{Kind: "Event"}, own, true},
		{"events of the newer group, always", "", "", object.Kind{Group: "events.k8s.io", Kind: "Event"}, own, true},
		{"metrics, always", "", "", object.Kind{Group: "metrics.k8s.io", Kind: "PodMetrics"}, own, true},
		{"leases, always", "", "", object.Kind{Group: "coordination.k8s.io", Kind: "Lease"}, own, true},
		{"another kind of their group", "", "", object.Kind{Group: "coordination.k8s.io", Kind: "LeaseCandidate"}, own, false},
		{"an event of somebody else", "", "", object.Kind{Group: "eventing.example.com", Kind: "Event"}, own, false},
		{"events, also where they are included", "", "[{kinds: [Event]}]", object.Kind{Kind: "Event"}, own, true},
		{"by group and kind", "[{apiGroups: [networking.k8s.io], kinds: [NetworkPolicy]}]", "", policy, own, true},
		{"another kind", "[{apiGroups: [networking.k8s.io], kinds: [NetworkPolicy]}]", "", ingress, own, false},
		{"another group", "[{apiGroups: [extensions], kinds: [NetworkPolicy]}]", "", policy, own, false},
		{"the core group", "[{apiGroups: [''], kinds: [ConfigMap]}]", "", config, own, true},
		{"a group by a pattern", "[{apiGroups: ['*.k8s.io']}]", "", policy, own, true},
		{"a pattern that does not match", "[{apiGroups: ['*.example.com']}]", "", policy, own, false},
		{"all groups", "[{kinds: [NetworkPolicy]}]", "", policy, own, true},
		{"every kind", "[{apiGroups: [networking.k8s.io], kinds: ['*']}]", "", ingress, own, true},
		{"a kind is no pattern", "[{kinds: ['Network*']}]", "", policy, own, false},
		{"a kind with another case", "[{kinds: [networkpolicy]}]", "", policy, own, false},
		{"on its cluster", "[{kinds: [NetworkPolicy], clusters: ['https://prod.*']}]", "", policy, other, true},
		{"on another cluster", "[{kinds: [NetworkPolicy], clusters: ['https://prod.*']}]", "", policy, own, false},
		{"the second entry", "[{kinds: [Pod]}, {kinds: [NetworkPolicy]}]", "", policy, own, true},
		{"included", "", "[{apiGroups: [networking.k8s.io]}]", policy, own, false},
		{"not included", "", "[{apiGroups: [networking.k8s.io]}]", config, own, true},
		{"not included, on a cluster that inclusions do not apply to", "", "[{kinds: [Pod], clusters: ['https://prod.*']}]", config, own, false},
		{"included and excluded", "[{kinds: [NetworkPolicy]}]", "[{apiGroups: [networking.k8s.io]}]", policy, own, true},
		{"neither", "[{kinds: [Pod]}]", "[{apiGroups: [networking.k8s.io]}]", config, own, true},
	} {
		e, err := ParseExclusions(map[string]string{KeyExclusions: test.exclusions, KeyInclusions: test.inclusions})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := e.Excludes(test.kind, test.server); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	var none *Exclusions
	if none.ID() != "" || none.Excludes(config, own) || !none.Excludes(object.Kind{Kind: "Event"}, own) {
		t.Error("without settings the standard holds")
	}
}

func TestExclusionsThatCannotBeReadAreAnError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, key, value, want string }{
		{"no YAML", KeyExclusions, "[{", "resource.exclusions"},
		{"no list", KeyInclusions, "kinds: [Pod]", "resource.inclusions"},
		{"a list of texts", KeyExclusions, "[Pod]", "apiGroups, kinds and clusters"},
		{"a pattern for groups", KeyExclusions, "[{}, {apiGroups: ['[a']}]", "resource.exclusions[1].apiGroups"},
		{"a pattern for clusters", KeyInclusions, "[{clusters: ['{a']}]", "resource.inclusions[0].clusters"},
		{"too many", KeyExclusions, "[" + strings.Repeat("{},", maxExclusions+1) + "]", "at most 1000"},
		{"a field of another name", KeyExclusions, "[{apiGroup: [x], kinds: ['*']}]", "apiGroup"},
	} {
		_, err := ParseExclusions(map[string]string{test.key: test.value})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestEqualExclusionsHaveEqualIDs(t *testing.T) {
	t.Parallel()
	id := func(exclusions, inclusions string) string {
		e, err := ParseExclusions(map[string]string{KeyExclusions: exclusions, KeyInclusions: inclusions})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID()
	}
	const pods = "[{kinds: [Pod]}]"
	first, second := id(pods, ""), id(pods, "")
	if id("", "") != "" || first != second {
		t.Error("equal settings have another id")
	}
	if id(pods, "") == "" || id(pods, "") == id("", pods) || id(pods, "") == id(pods, pods) {
		t.Error("other settings have the same id")
	}
}
