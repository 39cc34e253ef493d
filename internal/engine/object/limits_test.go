package object

import (
	"slices"
	"strings"
	"testing"
)

func TestLimitsPermitWhatTheSecretNames(t *testing.T) {
	t.Parallel()
	in := func(namespace string) Key { return Key{Kind: "ConfigMap", Namespace: namespace, Name: "c"} }
	node := Key{Kind: "Node", Name: "n"}
	for _, test := range []struct {
		name, namespaces, cluster string
		key                       Key
		refusal                   string // "": it is permitted
	}{
		{"nothing is set", "", "", in("a"), ""},
		{"nothing is set, of the cluster", "", "", node, ""},
		{"clusterResources has no effect alone", " ", "false", node, ""},
		{"a permitted namespace", "a, b", "", in("b"), ""},
		{"another namespace", "a,b", "", in("c"), "permits only namespaces a, b (its field namespaces)"},
		{"a part of a name", "shop-a", "", in("shop"), "namespaces"},
		{"two names", "a,b", "", in("a,b"), "namespaces"},
		{"of the cluster", "a,b", "", node, "clusterResources"},
		{"of the cluster, refused", "a,b", "false", node, "clusterResources"},
		{"of the cluster, permitted", "a,b", "true", node, ""},
		{"another namespace, with objects of the cluster", "a,b", "true", in("c"), "namespaces"},
	} {
		l, err := NewLimits("edge", test.namespaces, test.cluster)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		err = l.Permits(test.key)
		if (err == nil) != (test.refusal == "") || err != nil && !strings.Contains(err.Error(), test.refusal) {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "edge") {
			t.Errorf("%s: the Secret is not named: %v", test.name, err)
		}
	}
}

func TestLimitsThatPermitTheSameAreEqual(t *testing.T) {
	t.Parallel()
	read := func(namespaces, cluster string) Limits {
		l, err := NewLimits("edge", namespaces, cluster)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if read("b, a,b,", "") != read("a,b", "false") || read("a", "") == read("a", "true") || read("a", "") == read("b", "") {
		t.Error("limits are not equal, or others are")
	}
	if got := read("b, a,", "").Namespaces(); !slices.Equal(got, []string{"a", "b"}) || read("", "true").Namespaces() != nil {
		t.Errorf("%v", got)
	}
}

func TestLimitsThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{
		{",", ""}, {"a b", ""}, {"*", ""}, {"A", ""}, {"a/b", ""}, {"a", "yes"}, {strings.Repeat("a", 64), ""}, {"..", ""},
	} {
		if l, err := NewLimits("edge", test[0], test[1]); err == nil || !strings.Contains(err.Error(), "edge") {
			t.Errorf("%q and %q give %v, %v", test[0], test[1], l, err)
		}
	}
	many := make([]string, 0, maxLimits+1)
	for i := range maxLimits + 1 {
		many = append(many, "n"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+strings.Repeat("y", i/26))
	}
	if _, err := NewLimits("edge", strings.Join(many, ","), ""); err == nil {
		t.Error("too many namespaces are taken")
	}
}
