package place

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// Files are decrypted whatever they were read from: a registry and a URL as well as Git. Another project has no key.
func TestFilesOfArtifactsAndURLsAreDecryptedForTheirProject(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		raw, err := os.ReadFile("../../sops/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	encrypted := read("encrypted/secret.yaml")
	registry := testenv.OCI(t)
	registry.PushFiles("web", "1.0.0", map[string]string{need.FileName: encrypted})
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(encrypted)) }))
	t.Cleanup(files.Close)
	address := "oci://" + registry.Host() + "/web"
	sources := registered(t, keep(
		[]string{"keys", v1alpha1.SecretTypeSOPS, "one.agekey", read("one.agekey"), keyProject, "shop"},
		[]string{"web", v1alpha1.SecretTypeRepository, "url", address, "insecureOCIForceHttp", "true"},
	))
	for name, fetch := range map[string]func(project string) (engine.Fetched, error){
		"an artifact": func(project string) (engine.Fetched, error) {
			return sources.Fetch(t.Context(), project, v1alpha1.ApplicationSource{RepoURL: address, TargetRevision: "1.0.0"}, time.Time{})
		},
		"a file by URL": func(project string) (engine.Fetched, error) {
			return sources.FetchNeed(t.Context(), project, need.Need{Kind: need.File, URL: files.URL}, time.Time{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scopes := map[string]bool{}
			for project, want := range map[string]bool{"shop": true, "other": false} {
				fetched, err := fetch(project)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := fetched.Tree.ReadFile(need.FileName)
				if got := strings.Contains(string(raw), "plum-Tree-4711-lantern"); got != want {
					t.Errorf("project %s reads the secret: %t, %v", project, got, err)
				}
				scopes[fetched.Scope] = true
			}
			if len(scopes) != 2 {
				t.Errorf("what is decrypted has the scope of what is not: %v", scopes)
			}
		})
	}
}

func TestASecretForKeysThatHasNoneIsNamed(t *testing.T) {
	t.Parallel()
	settings := keep([]string{"misnamed", v1alpha1.SecretTypeSOPS, "key.txt", "AGE-SECRET-KEY-1SESAME", keyProject, "shop"})
	ring, err := settings.Ring("shop")
	if ring == nil || err == nil || !strings.Contains(err.Error(), "Secret misnamed has no field NAME.agekey or NAME.asc") {
		t.Errorf("%v, %v", ring, err)
	}
	if ring, err := settings.Ring("other"); ring != nil || err != nil {
		t.Errorf("another project: %v, %v", ring, err)
	}
}
