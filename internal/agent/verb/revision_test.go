package verb

import "testing"

func TestAKnownForgeHasAPageForACommit(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/acme/shop.git":                    "https://github.com/acme/shop/commit/c",
		"git@github.com:acme/shop.git":                        "https://github.com/acme/shop/commit/c",
		"ssh://git@gitlab.example.org:2222/acme/sub/shop":     "https://gitlab.example.org/acme/sub/shop/-/commit/c",
		"https://gitea.example.org/acme/shop":                 "https://gitea.example.org/acme/shop/commit/c",
		"https://bitbucket.org/acme/shop.git":                 "https://bitbucket.org/acme/shop/commits/c",
		"https://dev.azure.com/acme/shop/_git/web":            "https://dev.azure.com/acme/shop/_git/web/commit/c",
		"git@ssh.dev.azure.com:v3/acme/shop/web":              "https://dev.azure.com/acme/shop/_git/web/commit/c",
		"https://git.example.org/acme/shop.git":               "",
		"https://github.com.evil.example/acme/shop.git":       "",
		"https://user:secret@github.com/acme/shop.git":        "https://github.com/acme/shop/commit/c",
		`https://github.com/acme/"><script>alert(1)</script>`: "https://github.com/acme/%22%3E%3Cscript%3Ealert%281%29%3C/script%3E/commit/c",
		"file:///srv/git/shop":                                "",
		"/srv/git/shop":                                       "",
		"javascript:alert(1)":                                 "",
		"":                                                    "",
	} {
		if got := commitPage(address, "c"); got != want {
			t.Errorf("%s has %q, want %q", address, got, want)
		}
	}
}
