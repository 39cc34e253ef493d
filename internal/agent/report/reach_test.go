package report

import (
	"encoding/base64"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
)

func TestKnownSecretsAreReplacedWhereverTheyAppear(t *testing.T) {
	t.Parallel()
	settings := place.NewSettings(nil)
	s := New(Config{Settings: settings})
	key := "-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END X-----"
	settings.Put("secrets", secretWith("repo", v1alpha1.SecretTypeRepository, map[string][]byte{
		"password": []byte(`long"password`), "username": []byte("administrator"), "url": []byte("https://git.example/x"), "sshPrivateKey": []byte(key), "short": []byte("git"),
	}))
	settings.Put("secrets", secretWith("prod", v1alpha1.SecretTypeCluster, map[string][]byte{"config": []byte(`{"bearerToken":"a.very.long.token"}`)}))
	in := `{"a":"long\"password","b":"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC","c":"a.very.long.token","d":"administrator at https://git.example/x with git"}`
	want := `{"a":"(hidden)","b":"(hidden)","c":"(hidden)","d":"administrator at https://git.example/x with git"}`
	if got := string(s.Redact([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	settings.Drop("secrets", "prod")
	if got := string(s.Redact([]byte("a.very.long.token"))); got != "a.very.long.token" {
		t.Errorf("what is no secret any more is still replaced: %s", got)
	}
}

// secretWith is a Secret with a setting, as the API server has it.
func secretWith(name, kind string, data map[string][]byte) *unstructured.Unstructured {
	values := map[string]any{}
	for field, raw := range data {
		values[field] = base64.StdEncoding.EncodeToString(raw)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"data": values}}
	obj.SetName(name)
	obj.SetLabels(map[string]string{v1alpha1.LabelSecretType: kind})
	return obj
}
