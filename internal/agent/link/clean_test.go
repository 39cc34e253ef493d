package link

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func FuzzWhatIsReadOfSettingsIsJSON(f *testing.F) {
	f.Add("host ssh-rsa AAAA", `{"tlsClientConfig":{"caData":"x"}}`)
	f.Add("@revoked |1|a|b,c ssh-ed25519 AAAA\n#", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")
	f.Fuzz(func(t *testing.T, first, second string) {
		all := []map[string][]byte{
			KnownHosts(first, "1"), Certificates(map[string]string{first: second}, "1"), GPGKeys(map[string]string{first: second}, "1"),
		}
		raw, err := SecretSetting(map[string][]byte{"config": []byte(second), "url": []byte(first), second: []byte(first)}, nil, "1", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, map[string][]byte{"secret": raw})
		for _, items := range all {
			for name, body := range items {
				if !json.Valid(body) || len(name) > maxName {
					t.Errorf("%q is %q", name, body)
				}
			}
		}
	})
}

func TestAnApplicationIsToldWithoutManifestsAndCredentials(t *testing.T) {
	t.Parallel()
	op := v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "abc", Manifests: []string{"PLANTED"}}}
	in := &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "argocd", Name: "web", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "PLANTED"}},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "PLANTED", "keep": "me"},
		},
		Spec:      v1alpha1.ApplicationSpec{Source: &v1alpha1.ApplicationSource{RepoURL: "https://ann:PLANTED@git.example/x"}},
		Operation: &op,
		Status: v1alpha1.ApplicationStatus{
			Conditions:     []v1alpha1.ApplicationCondition{{Message: "fetch https://ann:PLANTED@git.example/x: <no>"}},
			OperationState: &v1alpha1.OperationState{Operation: op, Phase: v1alpha1.OperationRunning},
		},
	}
	raw, err := Application(in)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "PLANTED") || !strings.Contains(string(raw), `"keep":"me"`) || !json.Valid(raw) {
		t.Errorf("told: %s", raw)
	}
	if in.Operation.Sync.Manifests == nil || len(in.Annotations) != 2 || in.Status.OperationState.Operation.Sync.Manifests == nil {
		t.Error("the Application itself was changed")
	}
	var back v1alpha1.Application
	if err := json.Unmarshal(raw, &back); err != nil || back.Kind != "Application" || back.Spec.Source.RepoURL != "https://git.example/x" || back.Operation.Sync.Revision != "abc" {
		t.Errorf("read again: %v, %+v", err, back.Spec)
	}
}

func TestASecretIsToldByItsPublicFieldsAlone(t *testing.T) {
	t.Parallel()
	raw, err := SecretSetting(map[string][]byte{
		"url": []byte("https://ann:PLANTED@git.example/x"), "type": []byte("git"), "password": []byte("PLANTED"), "sshPrivateKey": []byte("PLANTED"),
		"somethingNew": []byte("PLANTED"), "empty": nil, "proxy": []byte("http://u:PLANTED@proxy:3128"),
		"config": []byte(`{"bearerToken":"PLANTED","username":"","tlsClientConfig":{"caData":"PLANTED","insecure":false}}`),
	}, map[string]string{"team": "a"}, "7", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "PLANTED") {
		t.Fatalf("told: %s", raw)
	}
	var got agentapi.Setting
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if want := "config.bearerToken config.caData password somethingNew sshPrivateKey"; strings.Join(got.Secrets, " ") != want {
		t.Errorf("secrets %v, want %s", got.Secrets, want)
	}
	if got.Fields["url"] != "https://git.example/x" || got.Fields["proxy"] != "http://proxy:3128" || got.Version != "7" || got.Labels["team"] != "a" {
		t.Errorf("fields %v", got)
	}
}

func TestKnownHostsAreToldOneByOne(t *testing.T) {
	t.Parallel()
	const key = "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	got := KnownHosts("# comment\n\ngithub.com,[git.example]:2222 ssh-ed25519 "+key+"\n|1|a=|b= ssh-rsa "+key+"\nbroken line\n@cert-authority *.example ssh-rsa "+key, "1")
	for _, want := range []string{"ssh:github.com:ssh-ed25519", "ssh:[git.example]:2222:ssh-ed25519", "ssh:*.example:ssh-rsa"} {
		if got[want] == nil {
			t.Errorf("%s is missing in %v", want, keysOf(got))
		}
	}
	if len(got) != 4 {
		t.Errorf("got %v, want 4", keysOf(got))
	}
	if !strings.Contains(string(got["ssh:github.com:ssh-ed25519"]), "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU") {
		t.Errorf("the fingerprint of GitHub's key is not what GitHub says: %s", got["ssh:github.com:ssh-ed25519"])
	}
}

func keysOf(m map[string][]byte) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func TestWhatIsTooLargeLosesItsLongestParts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", agentapi.MaxItem)
	small := `{"a":1}`
	if got, cut := fit([]byte(small)); cut || string(got) != small {
		t.Errorf("a small body became %s", got)
	}
	got, cut := fit([]byte(`{"metadata":{"name":"web"},"spec":{"project":"p"},"status":{"resources":["` + long + `"],"sync":{"status":"Synced"}}}`))
	if want := `{"metadata":{"name":"web"},"spec":{"project":"p"},"status":{"sync":{"status":"Synced"}}}`; !cut || string(got) != want {
		t.Errorf("got %.200s, want %s", got, want)
	}
	if got, cut := fit([]byte(`{"odd":"` + long + `"}`)); !cut || !json.Valid(got) || len(got) > agentapi.MaxItem {
		t.Errorf("got %.200s", got)
	}
}
