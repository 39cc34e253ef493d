package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func maps(n int) []object.Key {
	out := make([]object.Key, n)
	for i := range out {
		out[i] = object.Key{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("m%d", i)}
	}
	return out
}

func TestABudgetIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Budget{
		"off": {Off: true}, " off\n": {Off: true}, "0": {}, "20": {Objects: 20}, "20,30%": {Objects: 20, Percent: 30},
		" 20 , 30% ": {Objects: 20, Percent: 30}, "0,100%": {Percent: 100}, "5,0%": {Objects: 5},
	} {
		if got, err := ParseBudget(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "on", "OFF", "-1", "20,", "20,30", "20,-1%", "20,101%", "20,30%,4", "20%", "1.5", "99999999999999999999", "20,3 0%", strings.Repeat("9", 1000),
	} {
		if got, err := ParseBudget(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		} else if len(err.Error()) > 200 || !strings.Contains(err.Error(), `"20,30%"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestABudgetPrintsAsItIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{Objects: rapid.IntRange(0, 1<<40).Draw(t, "objects"), Percent: rapid.IntRange(0, 100).Draw(t, "percent")}
		if rapid.Bool().Draw(t, "off") {
			b = Budget{Off: true}
		}
		if got, err := ParseBudget(b.String()); err != nil || got != b {
			t.Errorf("%+v prints as %q, which is %+v, %v", b, b, got, err)
		}
	})
}

func FuzzParseBudget(f *testing.F) {
	for _, text := range []string{"off", "20", "20,30%", "", "-1", "20,101%", "1,2,3%", "\xff,\xff%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBudget(text)
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if again, err := ParseBudget(b.String()); err != nil || again != b {
			t.Errorf("%q is %+v, and %q is %+v, %v", text, b, b, again, err)
		}
	})
}

func TestABudgetIsExceededByNumberAndShare(t *testing.T) {
	t.Parallel()
	pv := []object.Key{{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}}
	for _, c := range []struct {
		name      string
		budget    Budget
		deletions []object.Key
		total     int
		want      string // "" where it may go
	}{
		{"nothing", Budget{}, nil, 10, ""},
		{"off", Budget{Off: true}, pv, 1, ""},
		{"few of few", DefaultBudget(), maps(10), 10, ""},
		{"many of many more", DefaultBudget(), maps(11), 22, ""},
		{"many of not as many", DefaultBudget(), maps(11), 21, "11 of 21 objects is more than 10 and over 50%"},
		{"one more than a number", Budget{Objects: 3}, maps(4), 1000, "4 of 1000 objects is more than 3"},
		{"none is allowed", Budget{}, maps(1), 1000, "1 of 1000 objects is more than 0"},
		{"data", DefaultBudget(), pv, 1000, "takes with it"},
		{"all, where all may go", Budget{Percent: 100}, maps(50), 50, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.budget.Exceeds(c.deletions, c.total); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestKindsThatTakeOthersWithThemAreNeverFew(t *testing.T) {
	t.Parallel()
	for _, k := range []object.Key{
		{Kind: "Namespace", Name: "a"},
		{Kind: "PersistentVolume", Name: "a"},
		{Kind: "PersistentVolumeClaim", Namespace: "b", Name: "a"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "a"},
		{Group: "argoproj.io", Kind: "Application", Namespace: "b", Name: "a"},
		{Group: "argoproj.io", Kind: "ApplicationSet", Namespace: "b", Name: "a"},
	} {
		if (Budget{Objects: 100, Percent: 100}).Exceeds([]object.Key{k}, 1000) == "" {
			t.Errorf("%s may go", k)
		}
	}
	if (Budget{Objects: 100}).Exceeds([]object.Key{{Group: "example.org", Kind: "Namespace", Name: "a"}}, 1000) != "" {
		t.Error("a kind of the same name in another group")
	}
}

func TestADigestIsOfASet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := maps(rapid.IntRange(1, 40).Draw(t, "n"))
		shuffled := slices.Clone(keys)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) //nolint:gosec // an order, not a secret
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		before := slices.Clone(shuffled)
		if Digest(keys) != Digest(shuffled) || len(Digest(keys)) != 16 {
			t.Errorf("%s and %s", Digest(keys), Digest(shuffled))
		}
		if !slices.Equal(before, shuffled) {
			t.Error("it was sorted for the caller, too")
		}
		if Digest(keys) == Digest(keys[1:]) {
			t.Error("a smaller set has the same digest")
		}
	})
	if Digest([]object.Key{{Kind: "a", Name: "bc"}}) == Digest([]object.Key{{Kind: "ab", Name: "c"}}) {
		t.Error("where a field ends does not count")
	}
}
