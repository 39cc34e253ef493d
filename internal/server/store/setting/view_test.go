package setting_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestTwoWhoSaveViewsAtATimeStayWithinTheirNumber(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		save := func(owner api.Principal, name string) error {
			_, err := b.SaveView(ctx, owner, api.View{Name: name})
			return err
		}
		everyone := api.Principal{}
		for i := range api.MaxViews - 1 {
			if err := save(everyone, fmt.Sprint("v", i)); err != nil {
				t.Fatal(err)
			}
		}
		var both sync.WaitGroup
		saved := make([]error, 16)
		for i := range saved {
			both.Go(func() { saved[i] = save(everyone, fmt.Sprint("w", i)) })
		}
		both.Wait()
		kept := 0
		for _, err := range saved {
			if err == nil {
				kept++
				continue
			}
			storetest.Code(t, err, api.CodeInvalid)
		}
		if kept != 1 {
			t.Errorf("%d were saved where there was room for one", kept)
		}
		if err := save(everyone, "v0"); err != nil {
			t.Errorf("one in the place of the one before: %v", err)
		}
		if err := save(api.Principal{Type: api.PrincipalUser, ID: "ada"}, "mine"); err != nil {
			t.Errorf("one's own: %v", err)
		}
	})
}
