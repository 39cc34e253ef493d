package setting_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/setting"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestAnIdempotencyKeyIsClaimedOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		until := b.Clock.Now().Add(time.Hour)
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for range 5 {
			wg.Go(func() {
				kept, err := b.Claim(ctx, "key", "print", until)
				mu.Lock()
				defer mu.Unlock()
				if err == nil && kept == nil {
					won++
				} else if api.CodeOf(err) != api.CodeConflict {
					t.Errorf("got %v, %v", kept, err)
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("claimed %d times", won)
		}
		answer := setting.Kept{Status: 201, Header: map[string]string{"Location": "/x"}, Body: []byte(`{"a":"ü"}`)}
		if err := b.Keep(ctx, "key", answer); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&answer, storetest.Must[*setting.Kept](t)(b.Claim(ctx, "key", "print", until))); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		_, err := b.Claim(ctx, "key", "another", until)
		storetest.Code(t, err, api.CodeConflict)
		if err := b.Release(ctx, "key"); err != nil { // it has an answer, which stays
			t.Fatal(err)
		}
		if kept := storetest.Must[*setting.Kept](t)(b.Claim(ctx, "key", "print", until)); kept == nil {
			t.Error("the answer was released")
		}
		if kept := storetest.Must[*setting.Kept](t)(b.Claim(ctx, "free", "print", until)); kept != nil {
			t.Errorf("kept %v", kept)
		}
		if err := b.Release(ctx, "free"); err != nil {
			t.Fatal(err)
		}
		if kept := storetest.Must[*setting.Kept](t)(b.Claim(ctx, "free", "another", until)); kept != nil {
			t.Errorf("kept %v", kept)
		}
		_, err = b.Claim(ctx, "free", "another", until.Add(time.Minute))
		if storetest.Code(t, err, api.CodeConflict); !strings.Contains(err.Error(), "under way") {
			t.Errorf("a minute later: %v", err)
		}
		_, err = b.Claim(ctx, "free", "another", until.Add(11*time.Minute))
		if storetest.Code(t, err, api.CodeConflict); !strings.Contains(err.Error(), "the server stopped") {
			t.Errorf("after a server that was killed: %v", err)
		}
		b.Clock.Move(time.Hour)
		if kept := storetest.Must[*setting.Kept](t)(b.Claim(ctx, "key", "another", until.Add(time.Hour))); kept != nil {
			t.Errorf("an old answer is kept: %v", kept)
		}
	})
}

func TestSettingsChangeByVersion(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		first := storetest.Must[api.Settings](t)(b.Settings(ctx))
		if first.CommandRetentionDays == 0 || first.Version == 0 {
			t.Errorf("defaults %+v", first)
		}
		changed := first
		changed.AuditRetentionDays = 0 // for ever
		second := storetest.Must[api.Settings](t)(b.SetSettings(ctx, changed))
		if second.AuditRetentionDays != 0 || second.Version != first.Version+1 {
			t.Errorf("changed to %+v", second)
		}
		_, err := b.SetSettings(ctx, changed)
		storetest.Code(t, err, api.CodeConflict)
		if diff := cmp.Diff(second, storetest.Must[api.Settings](t)(b.Settings(ctx))); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
	})
}
