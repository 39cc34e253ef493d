package connect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
)

func TestAnApplicationOfAServerSaysHowOldTheServersCopyIs(t *testing.T) {
	t.Parallel()
	heard := time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC)
	summary := api.Application{
		ID: "account.prod/argocd/shop", Agent: "account.prod", Namespace: "argocd", Name: "shop",
		Age: api.Age{Stale: true, AsOf: heard, AgentAway: true},
	}
	mux := http.NewServeMux()
	answer := func(path string, value any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value)
		})
	}
	answer("/api/v1/applications", api.Page[api.Application]{Items: []api.Application{summary}, Total: 1})
	answer("/api/v1/agents/account.prod/applications/argocd/shop", api.ApplicationDetail{Application: summary, Resource: json.RawMessage(
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"shop","namespace":"argocd"}}`)})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, err := client.New(client.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Client: c}
	one, err := s.Get(t.Context(), "account.prod/argocd/shop")
	if err != nil || one.Age != summary.Age {
		t.Errorf("one: %+v, %v", one.Age, err)
	}
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Age != summary.Age {
		t.Fatalf("the list: %+v, %v", list, err)
	}
	if listed, _ := list[0].Raw.Object["asOf"].(string); listed != "2030-06-01T00:00:00Z" || list[0].Raw.Object["stale"] != true {
		t.Errorf("as json: %v", list[0].Raw.Object)
	}
}
