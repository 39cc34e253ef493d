package git_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// large is a repository of 2,000 directories.
func large(b *testing.B) *testenv.GitRepo {
	repo := testenv.Git(b).NewRepo("r")
	files := map[string]string{}
	for i := range 2000 {
		for _, f := range []string{"kustomization.yaml", "deployment.yaml", "config.yaml"} {
			files[fmt.Sprintf("apps/app-%04d/%s", i, f)] = fmt.Sprintf("kind: %s %d\n", f, i)
		}
	}
	repo.Commit(files, "all")
	return repo
}

// cpu is the time that ended children used, the server's among them.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkOneCommitIsFetched(b *testing.B) {
	repo := large(b)
	m := mirror(b, client(b), repo.URL(), git.Credential{})
	if _, err := read(b.Context(), m); err == nil {
		b.Fatal("a.txt is there too early")
	}
	var used time.Duration
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		repo.Commit(map[string]string{fmt.Sprintf("apps/app-%04d/config.yaml", n%2000): fmt.Sprint(n)}, "one")
		before := cpu()
		b.StartTimer()
		if err := m.Fetch(b.Context(), "refs/heads/main"); err != nil {
			b.Fatal(err)
		}
		if _, err := m.Ref("refs/heads/main"); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		used += cpu() - before
		b.StartTimer()
	}
	b.ReportMetric(float64(used.Microseconds())/1000/float64(n), "cpu-ms/op")
}

func BenchmarkReferencesAreListed(b *testing.B) {
	repo := large(b)
	m := mirror(b, client(b), repo.URL(), git.Credential{})
	before := cpu()
	n := 0
	for b.Loop() {
		n++
		if _, err := m.LsRemote(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(n), "cpu-ms/op")
}
