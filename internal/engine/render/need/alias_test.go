package need_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"runtime"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/render/need"
)

// Readers of YAML write aliases out: these files would be some hundred megabytes then, in the process of the agent.
func TestAliasesAreNotWrittenOut(t *testing.T) {
	long := "&a " + strings.Repeat("x", 5000)
	many := "[" + strings.Repeat("*a,", 150_000) + "*a]\n"
	for name, files := range map[string]map[string]string{
		"a chart":         {"app/Chart.yaml": chartYAML + "description: " + long + "\nkeywords: " + many},
		"a lock":          {"app/Chart.yaml": chartYAML + "dependencies: [{name: a, version: 1.0.0}]\n", "app/Chart.lock": "digest: " + long + "\ngenerated: " + many},
		"a kustomization": {"app/kustomization.yaml": "namePrefix: " + long + "\nresources: " + many},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if found, _ := find(t, files, nil); len(found) > 0 {
			t.Errorf("%s needs %v", name, found)
		}
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
			t.Errorf("%s took %d MiB of memory", name, took)
		}
	}
}

func TestAliasesWorkWhereTheyAreSmall(t *testing.T) {
	t.Parallel()
	k, ok := need.Decode([]byte("namePrefix: &a team-\nnameSuffix: *a\nresources: [x.yaml]\n"))
	if !ok || k.NamePrefix != "team-" || k.NameSuffix != "team-" || len(k.Resources) != 1 {
		t.Errorf("it is %+v, %t", k, ok)
	}
}

func TestArchivesOfAChartAreBoundedTogether(t *testing.T) {
	t.Parallel()
	files := map[string]string{"app/Chart.yaml": chartYAML + "dependencies: [{name: a, version: 1.0.0, repository: \"https://charts.example.org\"}]\n"}
	bomb := bombOf(t, 20<<20)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		files["app/charts/"+name+".tgz"] = bomb
	}
	if _, err := find(t, files, nil); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("the error is %v", err)
	}
}

// bombOf is an archive of one file of zeros.
func bombOf(t *testing.T, size int64) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "a/zeros", Typeflag: tar.TypeReg, Mode: 0o644, Size: size}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
