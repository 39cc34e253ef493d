package parity

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/repository"
)

// dependencyRow is a chart, what is configured, and the repositories of its dependencies with the credentials chosen for them.
type dependencyRow struct {
	Root                                        string
	Repositories                                []string
	CredentialTemplates, RepositoriesConfigured []map[string]any
	Chosen                                      []struct {
		Repo, Username            string
		OCI, InsecureOCIForceHTTP bool
	}
}

func TestDependenciesAreFetchedFromTheRepositoriesAndWithTheCredentialsOfUpstream(t *testing.T) {
	t.Parallel()
	data := dir(t, "render")
	var index struct {
		HelmDependencyRepositories []dependencyRow
	}
	loadYAML(t, &index, data, "index.yaml")
	if len(index.HelmDependencyRepositories) == 0 {
		t.Fatal("no rows were read")
	}
	for i, row := range index.HelmDependencyRepositories {
		t.Run(fmt.Sprint(i, " ", row.Root), func(t *testing.T) {
			t.Parallel()
			settings := configured(row)
			needs, _, err := need.Find(render.Request{
				App: render.App{Name: "test"}, Source: v1alpha1.ApplicationSource{Path: "."}, Tool: render.Helm,
				Tree: openTree(t, filepath.Join(data, row.Root), renderRevision),
			})
			if err != nil {
				t.Fatal(err)
			}
			sources := place.NewSources(nil, settings)
			var got []string
			for _, n := range needs {
				located, err := sources.Locate("default", n)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, located.URL)
				row.check(t, settings, located)
			}
			if slices.Sort(got); len(row.Repositories) > 0 && !cmp.Equal(row.Repositories, got) {
				t.Errorf("repositories %q, want %q", got, row.Repositories)
			}
		})
	}
}

// check compares how a dependency is reached with what the row has chosen.
func (row dependencyRow) check(t *testing.T, settings *place.Settings, n need.Need) {
	t.Helper()
	for _, want := range row.Chosen {
		access, fields, err := settings.Repositories().Access("default", n.URL)
		if err != nil {
			t.Fatal(err)
		}
		address := want.Repo
		if want.OCI || want.InsecureOCIForceHTTP {
			address = "oci://" + want.Repo
		}
		if n.URL != address || want.Username != "" && access.Username != want.Username {
			t.Errorf("reached at %q as %q, want %q as %q", n.URL, access.Username, address, want.Username)
		}
		if want.OCI && !repository.FromRegistry(n.URL, n.Name, fields) {
			t.Errorf("%s is not taken for a registry", n.URL)
		}
		if plain := string(fields["insecureOCIForceHttp"]) == "true"; plain != want.InsecureOCIForceHTTP {
			t.Errorf("reached without TLS: %v, want %v", plain, want.InsecureOCIForceHTTP)
		}
	}
}

// configured are the settings of an agent with the Secrets of a row.
func configured(row dependencyRow) *place.Settings {
	out := place.NewSettings(func() {})
	for kind, list := range map[string][]map[string]any{
		v1alpha1.SecretTypeRepoCreds: row.CredentialTemplates, v1alpha1.SecretTypeRepository: row.RepositoriesConfigured,
	} {
		for i, fields := range list {
			text := map[string]any{"type": base64.StdEncoding.EncodeToString([]byte("helm"))} // the rows are about these only
			for name, value := range fields {
				text[name] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(value)))
			}
			out.Put("secrets", &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": fmt.Sprint(kind, i), "labels": map[string]any{v1alpha1.LabelSecretType: kind}},
				"data":     text,
			}})
		}
	}
	return out
}
