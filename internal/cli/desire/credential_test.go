package desire

import (
	"encoding/base64"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/internal/git"
)

func TestRepositoryGetsItsOwnCredentialElseThatOfTheLongestPrefix(t *testing.T) {
	t.Parallel()
	creds := credentials{
		exact: map[string]git.Credential{
			normal("https://git.example.com/team/own.git"): {Password: "own"},
			normal("https://git.example.com/team/bare"):    {}, // registered without a credential of its own
		},
		prefixes: []prefix{
			{normal("https://git.example.com/team"), git.Credential{Password: "team"}},
			{normal("https://git.example.com"), git.Credential{Password: "host"}},
		},
	}
	for url, want := range map[string]string{
		"https://git.example.com/team/own":       "own",
		"https://GIT.example.com/team/own.git":   "own",
		"https://git.example.com/team/own/":      "own",
		"https://git.example.com/team/bare.git":  "team",
		"https://git.example.com/team/other.git": "team",
		"https://git.example.com/else":           "host",
		"https://example.org/else":               "",
		"https://git.example.com.evil.org/team":  "",
		"https://git.example.com/teammate/a.git": "host",
	} {
		if got := creds.of(url).Password; got != want {
			t.Errorf("%s gets the credential %q, want %q", url, got, want)
		}
	}
}

func TestCredentialIsReadFromASecretWhateverItHolds(t *testing.T) {
	t.Parallel()
	encode := func(text string) any { return base64.StdEncoding.EncodeToString([]byte(text)) }
	secret := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{
		"username": encode("me"), "password": encode("secret"), "insecure": encode("true"), "sshPrivateKey": "not base64!",
	}}}
	got := credential(field(secret))
	if got.Username != "me" || got.Password != "secret" || !got.Insecure || len(got.SSHKey) != 0 {
		t.Errorf("got user %q, insecure %v, key of %d bytes", got.Username, got.Insecure, len(got.SSHKey))
	}
	empty := credential(field(&unstructured.Unstructured{Object: map[string]any{}}))
	if empty.Scope() != (git.Credential{}).Scope() {
		t.Error("a Secret without data is not anonymous access")
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
