package verb

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestATipBesideArgoCDIsNoOlderThanItsLastComparison(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		compared time.Duration // before now; zero for never
		want     time.Duration
	}{
		{"never compared", 0, time.Minute},
		{"compared lately", 5 * time.Second, 4 * time.Second},
		{"compared in this second", 300 * time.Millisecond, 0},
		{"compared long ago", time.Hour, time.Minute},
		{"compared in the future, by another clock", -time.Hour, time.Minute},
	} {
		app := &v1alpha1.Application{}
		if c.compared != 0 {
			app.Status.ReconciledAt = &metav1.Time{Time: now.Add(-c.compared)}
		}
		if got := ageBeside(app, now); got != c.want {
			t.Errorf("%s: what is known may be %s old, want %s", c.name, got, c.want)
		}
	}
}
