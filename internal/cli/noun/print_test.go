package noun_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func TestFactsAreReadByPeople(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := map[string]any{
		"a": map[string]any{"b": 1, "none": nil}, "empty": []string{}, "names": []string{"x", "y"},
		"parts": []map[string]any{{"name": "link", "status": map[string]any{"is": "Healthy"}}, {"name": "git"}},
	}
	if err := noun.Print(&connect.Common{Streams: iostream.Streams{Out: &out}}, v); err != nil {
		t.Fatal(err)
	}
	want := "a.b\t1\nnames\tx, y\nparts\tname=link  status.is=Healthy\nparts\tname=git\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("facts (-want +got):\n%s", d)
	}
}

func TestATimeIsReadInEachForm(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 6, 8, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "24h": now.Add(-24 * time.Hour), "7d": now.Add(-7 * 24 * time.Hour),
		"2030-06-01": time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC), "2030-06-01T08:00:00+02:00": time.Date(2030, 6, 1, 6, 0, 0, 0, time.UTC),
	} {
		if have, err := noun.ReadTime("--from", text, now); err != nil || !have.Equal(want) {
			t.Errorf("%q is %s, %v; want %s", text, have, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-1h", "7", "d"} {
		if have, err := noun.ReadTime("--from", text, now); err == nil {
			t.Errorf("%q is %s", text, have)
		}
	}
}
