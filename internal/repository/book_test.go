package repository

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// book has Secrets that are given by their name, kind and fields.
func book(secrets ...[]string) Book {
	out := Book{Secrets: map[string]Secret{}}
	for _, in := range secrets {
		sec := Secret{Kind: in[1], Data: map[string][]byte{}}
		for i := 2; i+1 < len(in); i += 2 {
			sec.Data[in[i]] = []byte(in[i+1])
		}
		out.Secrets[in[0]] = sec
	}
	return out
}

func TestTheClosestCredentialOfTheProjectIsUsed(t *testing.T) {
	t.Parallel()
	repo, creds := string(v1alpha1.SecretTypeRepository), string(v1alpha1.SecretTypeRepoCreds)
	b := book(
		[]string{"repo-any", repo, "url", "https://git.example/shop/web.git", "password", "repo-any"},
		[]string{"repo-shop", repo, "url", "https://git.example/shop/web", "password", "repo-shop", "project", "shop"},
		[]string{"repo-alien", repo, "url", "https://git.example/shop/api", "password", "repo-alien", "project", "alien"},
		[]string{"short", creds, "url", "https://git.example", "password", "short"},
		[]string{"long", creds, "url", "https://git.example/shop", "password", "long"},
		[]string{"slash", creds, "url", "https://other.example/team/", "password", "slash"},
		[]string{"nowhere", creds, "password", "nowhere"},
		[]string{"cluster", string(v1alpha1.SecretTypeCluster), "url", "https://git.example/shop/web", "password", "cluster"},
	)
	tests := []struct{ name, project, url, want string }{
		{"the repository's own, for the project", "shop", "https://git.example/shop/web.git", "repo-shop"},
		{"the repository's own, for every project", "else", "https://git.example/shop/web", "repo-any"},
		{"another project's is not used", "shop", "https://git.example/shop/api", "long"},
		{"the longest prefix", "else", "https://git.example/shop/other", "long"},
		{"a prefix ends at a boundary of the path", "else", "https://git.example/shopping/web", "short"},
		{"a prefix ends at a boundary of the host", "else", "https://git.example.evil/shop/web", ""},
		{"a prefix does not end within a port", "else", "https://git.example:8443/shop/web", ""},
		{"a prefix does not end within user information", "else", "https://git.example@evil.example/shop/web", ""},
		{"a prefix with a slash", "else", "https://other.example/team/web", "slash"},
		{"what is beside a prefix with a slash", "else", "https://other.example/teams/web", ""},
		{"a repository that nothing is known of", "else", "https://nowhere.example/x", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cred, err := b.Credential(test.project, test.url)
			if err != nil || cred.Password != test.want {
				t.Errorf("got the password of %q, error %v; want that of %q", cred.Password, err, test.want)
			}
			if text := fmt.Sprintf("%v %+v", cred, cred); test.want != "" && strings.Contains(text, test.want) {
				t.Errorf("the credential prints its password: %s", text)
			}
		})
	}
}

func TestACredentialThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	b := book([]string{"app", string(v1alpha1.SecretTypeRepository), "url", "https://git.example/a", "githubAppPrivateKey", "hidden"})
	_, err := b.Credential("p", "https://git.example/a")
	if err == nil || !strings.Contains(err.Error(), "Secret app: githubAppID") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("error %v; want one that names Secret and key, and no value", err)
	}
}
