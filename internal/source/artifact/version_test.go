package artifact_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/source/artifact"
)

func TestAVersionIsChosenAsArgoCDChoosesIt(t *testing.T) {
	t.Parallel()
	have := []string{"1.2.3", "v1.10.0", "1.9.1", "2.0.0-rc.1", "0.9.0", "1.2.0+build.5", "1.3.0_b2", "latest", "nonsense!"}
	for _, c := range []struct{ version, want string }{
		{"", "v1.10.0"},
		{"*", "v1.10.0"},
		{"1.2.3", "1.2.3"},
		{"v1.2.3", "1.2.3"},
		{"1.10.0", "v1.10.0"},
		{"1.2", "1.2.3"},
		{"1", "v1.10.0"},
		{"1.x", "v1.10.0"},
		{"~1.9", "1.9.1"},
		{"^1.2.0", "v1.10.0"},
		{">=1.2 <1.9", "1.3.0_b2"},
		{">= 1.2, < 1.3", "1.2.3"},
		{"1.2.0 - 1.9.9", "1.9.1"},
		{"<1 || >1.9.1 <2", "v1.10.0"},
		{">=2.0.0-0", "2.0.0-rc.1"},
		{"2.0.0-rc.1", "2.0.0-rc.1"},
		{"1.2.0+build.5", "1.2.0+build.5"},
		{"1.3.0+b2", "1.3.0_b2"},
		{"latest", "latest"},
		{" 1.2.3 ", "1.2.3"},
	} {
		if got, err := artifact.Choose(c.version, have); got != c.want || err != nil {
			t.Errorf("%q is %q, %v; want %q", c.version, got, err, c.want)
		}
	}
	for version, hint := range map[string]string{
		"3.x": "v1.10.0", "1.2.4": "1.2", ">=2": "v1.10.0", "1.2.0+other": "1.2", "mian": "neither", strings.Repeat("1", 1000): "256 bytes", "2.0.0": "2.0.0-rc.1",
	} {
		got, err := artifact.Choose(version, have)
		if !errors.Is(err, artifact.ErrNoVersion) || !strings.Contains(err.Error(), hint) || len(err.Error()) > 400 {
			t.Errorf("%.20q is %q, %v; want %v with %q", version, got, err, artifact.ErrNoVersion, hint)
		}
	}
	if _, err := artifact.Choose("", nil); !errors.Is(err, artifact.ErrNoVersion) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestTheChoiceDoesNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	have := []string{"1.0.0", "v1.0.0", "1.0.0+a", "1.0.0+b"}
	one, err := artifact.Choose("1.x", have)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(have)
	if two, _ := artifact.Choose("1.x", have); one != two {
		t.Errorf("%q in one order, %q in the other", one, two)
	}
}

func TestExactVersionsAreKnown(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"1.2.3": true, "v1.2.3": true, "1.2.3-rc.1": true, "1.2.3+a": true, "1.2.3_a": true, "sha256:abc": true,
		"1.2": false, "1.x": false, "": false, "*": false, "latest": false, ">=1.2.3": false,
	} {
		if artifact.Exact(version) != want {
			t.Errorf("%q is exact: %v, want %v", version, !want, want)
		}
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("1.x", "1.2.3\n1.3.0")
	f.Fuzz(func(t *testing.T, version, have string) {
		list := strings.Split(have, "\n")
		got, err := artifact.Choose(version, list)
		if err == nil && !slices.Contains(list, got) || err != nil && !errors.Is(err, artifact.ErrNoVersion) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}
