package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/place"
)

func TestLinksOfSettingsAreThoseOfApplicationsObjectsAndProjects(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	none := api.Links{Links: []api.Link{}}
	if diff := cmp.Diff(none, must[api.Links](s, agentapi.KindLinks, s.app(s.name), api.LinksRequest{})); diff != "" {
		t.Errorf("before there are settings (-want +got):\n%s", diff)
	}
	config := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": place.ConfigArgoCD, "labels": map[string]any{"app.kubernetes.io/part-of": "argocd"}},
		"data": map[string]any{
			"application.links": "- {title: Grafana, url: 'https://grafana.example.org/{{.app.metadata.name}}/{{.project.metadata.name}}?in={{.cluster.name}}'}",
			"project.links":     "- {title: Wiki, url: 'https://wiki.example.org/{{.project.metadata.name}}'}",
			"resource.links": "- {title: Logs, url: 'https://logs.example.org/{{.resource.metadata.name}}', if: 'resource.kind == \"Deployment\"'}\n" +
				"- {title: Secret, url: 'https://secrets.example.org/{{.resource.data.password}}', if: 'resource.kind == \"Secret\"'}",
		},
	}
	if _, err := s.in("", "v1", "configmaps").Create(t.Context(), &unstructured.Unstructured{Object: config}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until("the settings are seen", func(context.Context) bool { return s.agent.settings.Config(place.ConfigArgoCD)["resource.links"] != "" })

	want := api.Links{Links: []api.Link{{Title: "Grafana", URL: "https://grafana.example.org/" + s.name + "/shop?in=in-cluster"}}}
	if diff := cmp.Diff(want, must[api.Links](s, agentapi.KindLinks, s.app(s.name), api.LinksRequest{})); diff != "" {
		t.Errorf("the application (-want +got):\n%s", diff)
	}
	of := func(ref api.ResourceRef) api.Links {
		return must[api.Links](s, agentapi.KindLinks, s.app(s.name), api.LinksRequest{Resource: &ref})
	}
	want = api.Links{Links: []api.Link{{Title: "Logs", URL: "https://logs.example.org/web"}}}
	if diff := cmp.Diff(want, of(api.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Name: "web"})); diff != "" {
		t.Errorf("a Deployment (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(none, of(configMap("settings"))); diff != "" {
		t.Errorf("a ConfigMap (-want +got):\n%s", diff)
	}
	secret := of(api.ResourceRef{Version: "v1", Kind: "Secret", Name: "login"})
	if len(secret.Links) != 1 || !strings.Contains(secret.Links[0].URL, "/+++") {
		t.Errorf("a Secret: %+v", secret)
	}
	want = api.Links{Links: []api.Link{{Title: "Wiki", URL: "https://wiki.example.org/shop"}}}
	project := agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: "shop"}
	if diff := cmp.Diff(want, must[api.Links](s, agentapi.KindLinks, project, api.LinksRequest{})); diff != "" {
		t.Errorf("the project (-want +got):\n%s", diff)
	}
	foreign := configMap("foreign")
	s.refused(agentapi.KindLinks, s.app(s.name), api.LinksRequest{Resource: &foreign}, agentapi.CodeNotFound)
	s.refused(agentapi.KindLinks, s.app("none"), api.LinksRequest{}, agentapi.CodeNotFound)
	s.refused(agentapi.KindLinks, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: "kube-system", Name: "shop"}, api.LinksRequest{}, agentapi.CodeForbidden)
}
