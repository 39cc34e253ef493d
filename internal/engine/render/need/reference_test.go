package need_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/render/need"
)

func TestAddressesOfKustomizeAreRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ raw, url, revision, path string }{
		{"https://github.com/org/repo//deploy/base?ref=v1.2.3", "https://github.com/org/repo", "v1.2.3", "deploy/base"},
		{"https://github.com/org/repo/deploy/base?ref=v1", "https://github.com/org/repo", "v1", "deploy/base"},
		{"https://github.com/org/repo", "https://github.com/org/repo", "", "."},
		{"https://github.com/org/repo.git/deploy?version=v1", "https://github.com/org/repo.git", "v1", "deploy"},
		{"https://github.com/org/repo?ref=a&version=b&timeout=90s&submodules=false", "https://github.com/org/repo", "a", "."},
		{"github.com/org/repo//x", "https://github.com/org/repo", "", "x"},
		{"GitHub.com/org/repo//x", "https://github.com/org/repo", "", "x"},
		{"git::https://example.org/org/repo//x", "https://example.org/org/repo", "", "x"},
		{"git@github.com:org/repo.git//x?ref=main", "ssh://git@github.com/org/repo.git", "main", "x"},
		{"github.com:org/repo", "https://github.com/org/repo", "", "."},
		{"ssh://git@example.org:2222/org/repo.git//x", "ssh://git@example.org:2222/org/repo.git", "", "x"},
		{"git@example.org:org/deep/repo.git//x", "ssh://git@example.org/org/deep/repo.git", "", "x"},
		{"https://example.org/a/b/c/repo.git//x/../y", "https://example.org/a/b/c/repo.git", "", "y"},
		{"https://dev.azure.com/org/project/_git/repo/x/y?ref=main", "https://dev.azure.com/org/project/_git/repo", "main", "x/y"},
		{"https://example.org/a/b/x.yaml?ref=v1", "https://example.org/a/b", "v1", "x.yaml"},
	} {
		got, err := need.ParseReference("resources", tc.raw)
		if err != nil || got.Kind != need.Git || got.URL != tc.url || got.Revision != tc.revision || got.Path != tc.path {
			t.Errorf("%s is %s %q, revision %q, path %q (%v)", tc.raw, got.Kind, got.URL, got.Revision, got.Path, err)
		}
	}
	for _, raw := range []string{
		"https://github.com/org/repo/releases/download/v1/install.yaml", "https://raw.example.org/org/repo/main/x.yml",
		"https://example.org/x.json?token=1", "https://example.org/manifest",
	} {
		if got, err := need.ParseReference("resources", raw); err != nil || got.Kind != need.File || got.URL != raw {
			t.Errorf("%s is %s %q (%v)", raw, got.Kind, got.URL, err)
		}
	}
}

func TestHostileAddressesAreRefused(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"file:///etc":                                                  `scheme "file"`,
		"file:///etc/passwd.yaml":                                      `scheme "file"`,
		"https://github.com/org/repo//../../etc":                       "leaves the repository",
		"https://github.com/org/repo//a/../../b":                       "leaves the repository",
		"https://github.com/org/..//a":                                 "leaves the repository",
		"https://github.com/org/repo?ref=--upload-pack=touch%20/tmp/x": "is no branch",
		"https://github.com/org/repo?ref=a%0ab":                        "is no branch",
		"https://github.com/org/repo?ref=%zz":                          "malformed",
		"ext::sh -c id//x://y":                                         "scheme",
		"https:///org/repo//x":                                         "names no host",
		"ssh://-oProxyCommand=id/org/repo//x":                          "",
		"https://example.org/" + strings.Repeat("a", 3000):             "more than",
		"https://example.org/a\x00b/c":                                 "control characters",
	} {
		got, err := need.ParseReference("resources", raw)
		if want == "" { // what fetches refuses the host
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q is %v, %v; want an error with %q", raw, got, err, want)
		}
	}
}

func TestLocalPathsAreLocal(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"../base", "base", "github.com", "a@b", "x: y\nhttps://example.org", "./https/x", "git"} {
		if need.IsRemote(p) {
			t.Errorf("%q is taken for something to fetch", p)
		}
	}
}

func TestOptionsOfKustomizeBuild(t *testing.T) {
	t.Parallel()
	o, err := need.ParseBuildOptions(" --enable-helm --load-restrictor LoadRestrictionsNone --reorder=none --helm-command helm3 " +
		"--helm-kube-version=1.30.0 --helm-api-versions a/v1,b/v1 --helm-api-versions c/v1")
	if err != nil || !o.EnableHelm || !o.LoadAll || o.Reorder != "none" || o.KubeVersion != "1.30.0" || len(o.APIVersions) != 3 {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err = need.ParseBuildOptions("--load_restrictor none --enable-helm=false"); err != nil || !o.LoadAll || o.EnableHelm {
		t.Errorf("got %+v, %v", o, err)
	}
	for text, want := range map[string]string{
		"--enable-alpha-plugins":   "would run programs",
		"--enable-exec":            "would run programs",
		"--network":                "would run programs",
		"--output /tmp/x":          "goes to the cluster",
		"--unknown":                "is not known",
		"--load-restrictor":        "needs a value",
		"--load-restrictor=all":    "is not known",
		"--reorder sideways":       "is not known",
		"stray":                    "is no option",
		"--enable-managedby-label": "buildMetadata",
		"--enable_alpha_plugins":   "would run programs",
	} {
		if _, err := need.ParseBuildOptions(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
}

func FuzzReference(f *testing.F) {
	for _, seed := range []string{
		"https://github.com/org/repo//deploy?ref=v1", "git@github.com:org/repo.git//x", "git::ssh://git@host/a/b.git//c?version=1",
		"https://dev.azure.com/o/p/_git/r/x", "github.com/a/b", "https://example.org/x.yaml", "file:///etc",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := need.ParseReference("resources", raw)
		if err != nil {
			return
		}
		if got.URL == "" || strings.HasPrefix(got.Revision, "-") || got.Path == ".." || strings.HasPrefix(got.Path, "../") ||
			strings.HasPrefix(got.Path, "/") || !strings.Contains(got.URL, "://") {
			t.Errorf("%q is %+v", raw, got)
		}
	})
}
