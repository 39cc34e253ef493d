package parity

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
)

// checkRetries: the data counts retries from 0, the engine from 1.
func checkRetries(t *testing.T, set annotationSet) {
	t.Helper()
	var count agreement
	for _, row := range set.RetryBackoff {
		wrong := ""
		for retry, seconds := range row.DelaysSeconds {
			n, err := strconv.ParseInt(retry, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			got := decide.RetryDelay(v1alpha1.RetryStrategy{Backoff: row.Backoff}, n+1)
			if d := cmp.Diff(time.Duration(seconds)*time.Second, got); d != "" {
				wrong += fmt.Sprintf("retry %d: %s", n, d)
			}
		}
		count.row(t, row, wrong)
	}
	t.Logf("retryBackoff: %d of %d rows agree", count.agree, count.rows)
}
