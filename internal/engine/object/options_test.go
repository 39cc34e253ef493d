package object

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsAreReadFromTheAnnotation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, list string
		want       Options
	}{
		{"none", "", Options{}},
		{"commas alone", " , ,", Options{}},
		{"one", "Replace=true", Options{Replace: Yes}},
		{"one that is off", "Validate=false", Options{Validate: No}},
		{"several, with spaces", " Prune=confirm , Delete=false,Force=true ", Options{Prune: ConsentAsked, Delete: ConsentDenied, Force: Yes}},
		{"the first of two counts", "Prune=false,Prune=true,Replace=false,Replace=true", Options{Prune: ConsentDenied, Replace: No}},
		{
			"all others of an object", "SkipDryRunOnMissingResource=true,PruneLast=true,ServerSideApply=false,ClientSideApplyMigration=false",
			Options{SkipDryRun: Yes, PruneLast: Yes, ServerSide: No, Migrate: No},
		},
		{"a value that is none", "Replace=yes,Prune=maybe,Force", Options{Unknown: []string{"Replace=yes", "Prune=maybe", "Force"}}},
		{"a name that is none", "Replase=true", Options{Unknown: []string{"Replase=true"}}},
		{"case matters", "replace=true,Force=True", Options{Unknown: []string{"replace=true", "Force=True"}}},
		{
			"what only an Application has", "CreateNamespace=true,PrunePropagationPolicy=orphan,ApplyOutOfSyncOnly=true",
			Options{Unknown: []string{"CreateNamespace=true", "PrunePropagationPolicy=orphan", "ApplyOutOfSyncOnly=true"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := map[string]any{}
			SetAnnotation(obj, SyncOptionsAnnotation, test.list)
			if d := cmp.Diff(test.want, OptionsOf(obj)); d != "" {
				t.Error(d)
			}
		})
	}
	if d := cmp.Diff(Options{}, OptionsOf(map[string]any{"metadata": map[string]any{"annotations": "text"}})); d != "" {
		t.Error(d)
	}
}

func TestAnApplicationHasOptionsOfItsOwn(t *testing.T) {
	t.Parallel()
	got := AppOptions([]string{
		"CreateNamespace=true", " ApplyOutOfSyncOnly=true", "FailOnSharedResource=true", "RespectIgnoreDifferences=true",
		"PrunePropagationPolicy=background", "PrunePropagationPolicy=orphan", "PrunePropagationPolicy=slowly", "Prune=false", "",
	})
	want := Options{
		Namespace: Yes, OutOfSync: Yes, FailOnShared: Yes, Respect: Yes, Propagation: "background", Prune: ConsentDenied,
		Unknown: []string{"PrunePropagationPolicy=slowly"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAnObjectsOwnOptionsWin(t *testing.T) {
	t.Parallel()
	app := AppOptions([]string{"Prune=true", "Replace=true", "Validate=false", "CreateNamespace=true", "PrunePropagationPolicy=orphan", "Odd=1"})
	got := ParseOptions("Prune=confirm,Replace=false,Strange=1").Over(app)
	want := Options{
		Prune: ConsentAsked, Replace: No, Validate: No, Namespace: Yes, Propagation: "orphan", Unknown: []string{"Strange=1"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Options{Replace: Yes, Validate: Yes}, ParseOptions("Validate=true").WithLive(ParseOptions("Replace=true,Validate=false,Prune=false"))); d != "" {
		t.Error(d)
	}
	if got := ParseOptions("Replace=false").WithLive(ParseOptions("Replace=true")); got.Replace.Is() {
		t.Error("the live object's option went before that of Git")
	}
}

func FuzzUnknownOptionsAreFewAndShort(f *testing.F) {
	f.Add("Replace=true, Force")
	f.Add(strings.Repeat(",ä=b", 300))
	f.Add("," + strings.Repeat("ä", 300))
	f.Fuzz(func(t *testing.T, list string) {
		for _, o := range []Options{ParseOptions(list), AppOptions(strings.Split(list, ","))} {
			if len(o.Unknown) > maxUnknown {
				t.Fatalf("%d are kept", len(o.Unknown))
			}
			for _, u := range o.Unknown {
				if len(u) > maxUnknownLen+len("…") || utf8.ValidString(list) && !utf8.ValidString(u) {
					t.Fatalf("%q", u)
				}
			}
		}
	})
}
