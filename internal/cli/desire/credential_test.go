package desire

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
)

func TestASecretIsReadWhateverItHolds(t *testing.T) {
	t.Parallel()
	encode := func(text string) any { return base64.StdEncoding.EncodeToString([]byte(text)) }
	got := secretOf(&unstructured.Unstructured{Object: map[string]any{
		"metadata":   map[string]any{"labels": map[string]any{v1alpha1.LabelSecretType: v1alpha1.SecretTypeRepository}},
		"data":       map[string]any{"username": encode("me"), "password": encode("old"), "sshPrivateKey": "not base64!"},
		"stringData": map[string]any{"password": "secret"},
	}})
	want := repository.Secret{
		Kind: v1alpha1.SecretTypeRepository, Data: map[string][]byte{"username": []byte("me"), "password": []byte("secret")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if empty := secretOf(&unstructured.Unstructured{Object: map[string]any{}}); empty.Kind != "" || len(empty.Data) > 0 {
		t.Errorf("a Secret without data has %v", empty)
	}
}

// TestSecretsOfAFileCountAsInAnAgent has documents without a name, a template, and Secrets of projects.
func TestSecretsOfAFileCountAsInAnAgent(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	var text strings.Builder
	for _, s := range [][]string{
		{v1alpha1.SecretTypeRepository, "url", "https://git.example/team/own", "password", "own"},
		{v1alpha1.SecretTypeRepository, "url", "https://git.example/team/bare"},
		{v1alpha1.SecretTypeRepository, "url", "https://git.example/team/own", "password", "alien", "project", "alien"},
		{v1alpha1.SecretTypeRepoCreds, "url", "https://git.example/team", "password", "team", "proxy", "http://proxy.example:3128"},
		{v1alpha1.SecretTypeRepository, "url", "https://git.example/team/stray", "proxy", "http://evil.example:3128", "project", "shop"},
		{v1alpha1.SecretTypeRepository, "url", "https://charts.example", "githubAppPrivateKey", "x", "type", "helm"},
	} {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Secret\nmetadata: {labels: {%s: %s}}\nstringData:\n", v1alpha1.LabelSecretType, s[0])
		for i := 1; i < len(s); i += 2 {
			fmt.Fprintf(&text, "  %s: %s\n", s[i], s[i+1])
		}
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Elsewhere{Project: "shop", Credentials: file, Policy: &outward.Policy{}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	for url, want := range map[string]string{
		"https://git.example/team/own": "own", "https://git.example/team/bare": "team", "https://git.example/team/other.git": "team",
		"https://git.example/teammate": "",
	} {
		if cred, err := r.book.Credential(r.project, url); err != nil || cred.Password != want {
			t.Errorf("%s: password %q, %v; want %q", url, cred.Password, err, want)
		}
	}
	_, err = r.Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: "https://git.example/team/stray"}, "")
	if err == nil || !strings.Contains(err.Error(), "document 5") || !strings.Contains(err.Error(), "proxy of a Secret of one project") {
		t.Errorf("a Secret that sends the login of a template another way: %v", err)
	}
	_, err = r.Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: "https://charts.example", Chart: "app", TargetRevision: "1"}, "")
	if err == nil || !strings.Contains(err.Error(), "githubAppPrivateKey") {
		t.Errorf("a chart with a GitHub App: %v", err)
	}
}

func TestOnlyOneProcessUsesTheSharedMirrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release := lock(dir)
	if release == nil {
		t.Fatal("a free directory cannot be taken")
	}
	if lock(dir) != nil {
		t.Error("a taken directory can be taken again")
	}
	release()
	again := lock(dir)
	if again == nil {
		t.Fatal("a directory that was given up cannot be taken")
	}
	again()
	if lock("/proc/nowhere") != nil {
		t.Error("a directory that cannot be made is taken")
	}
}
