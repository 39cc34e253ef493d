package setting

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/outward"
)

// A user who writes a repository knows the login of no template, and not the one that is kept, either.
func TestNoLoginIsSentElsewhereByAUserWhoDoesNotKnowIt(t *testing.T) {
	t.Parallel()
	v := keeperWith(t, &outward.Policy{})
	v.Settings.Put("secrets", &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "template", "labels": map[string]any{v1alpha1.LabelSecretType: v1alpha1.SecretTypeRepoCreds}},
		"data":     map[string]any{"url": "aHR0cHM6Ly9naXQuZXhhbXBsZS8=", "password": "cw=="}, // https://git.example/
	}})
	kept := map[string][]byte{"url": []byte("https://git.example/a"), "password": []byte("kept")}
	for _, field := range agentapi.SettingRepository.Aims() {
		if field == "url" {
			continue
		}
		change := agentapi.SettingChange{Type: agentapi.SettingRepository, Fields: map[string]string{field: "true"}}
		with := func(data map[string][]byte) map[string][]byte {
			next := map[string][]byte{field: []byte("true")}
			for name, value := range data {
				next[name] = value
			}
			return next
		}
		if err := v.checkAims(change, kept, with(kept)); err == nil || !strings.Contains(err.Error(), "requires the secrets of the repository again") {
			t.Errorf("%s with a login that is kept: %v", field, err)
		}
		bare := map[string][]byte{"url": kept["url"]}
		err := v.checkAims(change, nil, with(bare))
		if field != "passCredentials" && (err == nil || !strings.Contains(err.Error(), "the login of a template another way")) {
			t.Errorf("%s with the login of a template: %v", field, err) // whether that is passed on, the template says alone
		}
		if err := v.checkAims(change, nil, with(kept)); err != nil {
			t.Errorf("%s with a login of its own: %v", field, err)
		}
	}
}
