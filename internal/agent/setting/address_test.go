package setting

import (
	"encoding/base64"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
)

// TestNoProjectTakesAnAddressFromAnotherBesideAnArgoCD writes settings at addresses that others have. An Argo CD picks one of
// them by the address, so credentials of one project would be sent for another.
func TestNoProjectTakesAnAddressFromAnotherBesideAnArgoCD(t *testing.T) {
	t.Parallel()
	data := func(pairs ...string) map[string][]byte {
		out := map[string][]byte{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = []byte(pairs[i+1])
		}
		return out
	}
	const (
		repo = agentapi.SettingRepository
		tmpl = agentapi.SettingRepoCreds
		edge = agentapi.SettingCluster
	)
	kept := place.NewSettings(nil)
	for _, s := range []*unstructured.Unstructured{
		keptSetting("vault", v1alpha1.SecretTypeRepository, data("url", "https://git.example.org/vault.git", "project", "vault")),
		keptSetting("common", v1alpha1.SecretTypeRepository, data("url", "git@git.example.org:common.git")),
		keptSetting("host", v1alpha1.SecretTypeRepoCreds, data("url", "https://git.example.org/", "project", "vault")),
		keptSetting("cluster", v1alpha1.SecretTypeCluster, data("server", "https://edge.example.org:6443", "name", "edge", "project", "vault")),
	} {
		kept.Put("secrets", s)
	}
	for name, c := range map[string]struct {
		kind          agentapi.SettingType
		have, next    map[string][]byte
		beside, alone bool // it is refused
	}{
		"a repository of another project":         {repo, nil, data("url", "https://git.example.org/vault.git", "project", "shop"), true, false},
		"the same in another spelling":            {repo, nil, data("url", "https://GIT.example.org/Vault/", "project", "shop"), true, false},
		"a repository of all projects":            {repo, nil, data("url", "ssh://git@git.example.org/common", "project", "shop"), true, false},
		"one of all over one of a project":        {repo, nil, data("url", "https://git.example.org/vault.git"), true, false},
		"a repository of the same project":        {repo, nil, data("url", "https://git.example.org/vault.git", "project", "vault"), true, true},
		"a repository that moves there":           {repo, data("url", "https://git.example.org/a.git", "project", "shop"), data("url", "https://git.example.org/vault.git", "project", "shop"), true, false},
		"a template of another project":           {tmpl, nil, data("url", "https://git.example.org", "project", "shop"), true, false},
		"a cluster of another project":            {edge, nil, data("server", "https://edge.example.org:6443/", "name", "mine", "project", "shop"), true, false},
		"a cluster of that name":                  {edge, nil, data("server", "https://mine.example.org:6443", "name", "edge", "project", "shop"), true, false},
		"the cluster of the Argo CD":              {edge, nil, data("server", "https://kubernetes.default.svc/", "name", "mine", "project", "shop"), true, false},
		"one that is called like it":              {edge, nil, data("server", "https://mine.example.org:6443", "name", "in-cluster", "project", "shop"), true, false},
		"the cluster of the Argo CD, for all":     {edge, nil, data("server", "https://kubernetes.default.svc", "name", "in-cluster"), false, false},
		"a cluster of its own":                    {edge, nil, data("server", "https://mine.example.org:6443", "name", "mine", "project", "shop"), false, false},
		"a repository of its own":                 {repo, nil, data("url", "https://git.example.org/shop.git", "project", "shop"), false, false},
		"another change of one that was there":    {repo, data("url", "https://git.example.org/vault.git", "project", "shop"), data("url", "https://git.example.org/vault.git", "project", "shop", "type", "git"), false, false},
		"a repository that a template is for":     {repo, nil, data("url", "https://git.example.org/team/a.git", "project", "shop"), false, false},
		"a template for more than that of others": {tmpl, nil, data("url", "https://git.example.org/team/", "project", "shop"), false, false},
	} {
		for beside, refused := range map[bool]bool{true: c.beside, false: c.alone} {
			v := &keeper{Config: Config{Settings: kept}}
			if beside {
				v.ReadBy = agentapi.EngineArgoCD
			}
			err := v.checkSetting(agentapi.SettingChange{Type: c.kind, Name: "mine"}, c.have, c.next)
			if (err != nil) != refused {
				t.Errorf("%s, beside an Argo CD %v: %v", name, beside, err)
			}
		}
	}
}

// keptSetting is a Secret with a setting, as the API server has it.
func keptSetting(name, kind string, data map[string][]byte) *unstructured.Unstructured {
	values := map[string]any{}
	for field, raw := range data {
		values[field] = base64.StdEncoding.EncodeToString(raw)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"data": values}}
	obj.SetName(name)
	obj.SetLabels(map[string]string{v1alpha1.LabelSecretType: kind})
	return obj
}
