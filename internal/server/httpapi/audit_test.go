package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

// TestAnAttemptThatEndsInAnyWayIsOneEntryThatSaysWhatItWasAbout asks for a sync that cannot come to a good end.
func TestAnAttemptThatEndsInAnyWayIsOneEntryThatSaysWhatItWasAbout(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		code    int
		outcome string
	}{
		"panic":  {http.StatusInternalServerError, api.OutcomeFailed},
		"broken": {http.StatusInternalServerError, api.OutcomeFailed},
		"web":    {http.StatusForbidden, api.OutcomeDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, server := serve(t, nil)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/api/v1/agents/account.prod/applications/argocd/"+name+"/sync", strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer bob")
			r.Header.Set("Content-Type", "application/json")
			answer, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != want.code || len(d.entries) != 1 {
				t.Fatalf("the answer is %d, the entries are %+v", answer.StatusCode, d.entries)
			}
			e := d.entries[0]
			if e.Outcome != want.outcome || e.Actor.ID != "bob" || e.Object.Type != api.TypeApplication || e.Object.ID != "account.prod/argocd/"+name || strings.Contains(e.Message, "secret") {
				t.Errorf("the entry is %+v", e)
			}
		})
	}
}

// obedient does every command.
type obedient struct{ item.Commands }

func (obedient) Do(_ context.Context, o item.Order) (api.Command, error) {
	return api.Command{ID: "c1", Status: api.CommandDone, Object: o.Object}, nil
}

func TestARollbackIsOneEntryAndTryingItIsNone(t *testing.T) {
	t.Parallel()
	d, server := serve(t, nil)
	d.Commands = obedient{}
	for _, c := range []struct {
		body string
		want int
	}{{`{"dryRun":true}`, 0}, {`{"reason":"orders are lost"}`, 1}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+app+"/rollback", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer ada")
		r.Header.Set("Content-Type", "application/json")
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK || len(d.entries) != c.want {
			t.Fatalf("%s: the answer is %d, the entries are %+v", c.body, answer.StatusCode, d.entries)
		}
	}
	if e := d.entries[0]; e.Action != "application.rollback" || e.Actor.ID != "ada" || e.Reason != "orders are lost" {
		t.Errorf("the entry is %+v", e)
	}
}
