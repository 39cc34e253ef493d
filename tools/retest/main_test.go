package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// buffer is a bytes.Buffer for several goroutines that can be waited for.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen chan struct{}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.text.Write(p)
	if b.want != "" && strings.Contains(b.text.String(), b.want) {
		close(b.seen)
		b.want = ""
	}
	return n, err
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// marker is a function of tests that returns whether this is its first call with a name, over processes. DIR is replaced.
const marker = `
func first(name string) bool {
	f, err := os.OpenFile(DIR+"/mark-"+name, os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil { f.Close() }
	return err == nil
}
`

// module writes a module with one package for each entry, in which marker is, and returns its directory.
func module(t *testing.T, packages map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.test\n\ngo 1.26\n")
	for name, body := range packages {
		write(name+"/"+name+"_test.go", "package "+name+"\n\nimport (\"os\"; \"testing\"; \"time\")\n\nvar _ time.Time\n"+
			strings.ReplaceAll(marker, "DIR", "`"+dir+"`")+body)
	}
	return dir
}

// example is a module, and what a run of its tests comes to.
type example struct {
	name     string
	packages map[string]string
	flags    []string
	fails    bool
	want     []string
	never    []string
	file     string // what the file of flaky tests contains; empty for no file
}

func TestATestThatFailsRunsAgainAlone(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			name:     "passing tests run once",
			packages: map[string]string{"a": `func TestA(t *testing.T) { t.Log("quiet") }; func TestB(t *testing.T) { t.Skip() }`},
			want:     []string{"ok  \texample.test/a\t", "1 passed, 0 failed, 1 skipped, 0 flaky\n"},
			never:    []string{"quiet", "again", "FAIL"},
		}, {
			name:     "with -v everything is shown",
			packages: map[string]string{"a": `func TestA(t *testing.T) { t.Log("loud") }`},
			flags:    []string{"-v"},
			want:     []string{"=== RUN   TestA\n", "loud", "ok  \texample.test/a\t"},
		}, {
			name: "a test that fails twice fails the run",
			packages: map[string]string{
				"a": `func TestA(t *testing.T) { t.Error("no good") }; func TestB(*testing.T) {}`,
				"b": `func TestC(*testing.T) {}`,
			},
			fails: true,
			want: []string{
				"--- FAIL: TestA (0.00s)\n    a_test.go:", "no good\n", "FAIL\texample.test/a\t", "ok  \texample.test/b",
				"again, alone: example.test/a TestA\n", "2 passed, 1 failed, 0 skipped, 0 flaky\nFAIL\n",
			},
			never: []string{"FLAKY"},
		}, {
			name:     "a test that passes alone is flaky",
			packages: map[string]string{"a": `func TestA(t *testing.T) { if first("a") { t.Error("first time") } }`},
			want:     []string{"FLAKY example.test/a TestA: failed, then passed alone\n", "    --- FAIL: TestA", "1 passed, 0 failed, 0 skipped, 1 flaky\n"},
			never:    []string{"1 flaky\nFAIL"},
			file:     "first time",
		}, {
			name: "three flaky tests are too many",
			packages: map[string]string{
				"a": `func TestA(t *testing.T) { if first("a") { t.Error("no") } }
				func TestB(t *testing.T) { if first("b") { t.Error("no") } }`,
				"b": `func TestC(t *testing.T) { if first("c") { t.Error("no") } }`,
			},
			fails: true,
			want:  []string{"retest: 3 tests are flaky, more than 2\n", "3 passed, 0 failed, 0 skipped, 3 flaky\nFAIL\n"},
			file:  "TestC",
		}, {
			name: "a parallel subtest runs without its siblings",
			packages: map[string]string{"a": `func TestA(t *testing.T) {
				t.Run("one two", func(t *testing.T) { t.Parallel(); if first("a") { t.Error("no") } })
				t.Run("three", func(t *testing.T) { t.Parallel(); if !first("b") { t.Error("runs twice") } })
			}`},
			want: []string{"again, alone: example.test/a TestA/one_two\n", "1 flaky\n"},
			file: "TestA/one_two",
		}, {
			name: "a subtest that may need its siblings runs with them",
			packages: map[string]string{"a": `func TestA(t *testing.T) {
				ready := false
				t.Run("prepare", func(*testing.T) { ready = true })
				t.Run("use", func(t *testing.T) { if first("a") || !ready { t.Error("no") } })
			}`},
			want: []string{"again, alone: example.test/a TestA\n", "FLAKY example.test/a TestA:", "1 flaky\n"},
			file: "--- FAIL: TestA/use",
		},
	})
}

func TestWhatAPackageDidNotFinishRunsAgain(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			name: "after a panic the other tests run",
			packages: map[string]string{"a": `func TestA(*testing.T) {}
				func TestB(t *testing.T) { if first("b") { panic("boom") } }
				func TestC(t *testing.T) { if !first("c") { t.Error("runs twice") } }`},
			want: []string{"panic: boom", "again, alone: example.test/a TestB\n", "3 passed, 0 failed, 0 skipped, 1 flaky\n"},
			file: "panic: boom",
		}, {
			name: "a failure after a panic is found",
			packages: map[string]string{"a": `func TestB(t *testing.T) { if first("b") { panic("boom") } }
				func TestC(t *testing.T) { t.Error("never right") }`},
			fails: true,
			want:  []string{"never right", "1 passed, 1 failed, 0 skipped, 1 flaky\n"},
			file:  "panic: boom",
		}, {
			name: "a test that hangs runs again",
			packages: map[string]string{"a": `func TestA(t *testing.T) { if first("a") { <-make(chan int) } }
				func TestB(*testing.T) {}`},
			flags: []string{"-timeout", "2s"},
			want:  []string{"panic: test timed out after 2s", "again, alone: example.test/a TestA\n", "2 passed, 0 failed, 0 skipped, 1 flaky\n"},
			file:  "timed out",
		}, {
			name: "a test that ends its process runs again",
			packages: map[string]string{"a": `func TestA(t *testing.T) { if first("a") { os.Exit(3) } }
				func TestB(*testing.T) {}`},
			want: []string{"2 passed, 0 failed, 0 skipped, 1 flaky\n"},
			file: "TestA",
		}, {
			name: "a package that fails after its tests runs again",
			packages: map[string]string{"a": `func TestMain(m *testing.M) { code := m.Run(); if first("m") { println("leaked"); code = 1 }; os.Exit(code) }
				func TestA(*testing.T) {}`},
			want: []string{"again, alone: example.test/a (the package)\n", "FLAKY example.test/a (the package):", "1 flaky\n"},
			file: "leaked",
		}, {
			name:     "a package that never begins fails",
			packages: map[string]string{"a": `func TestMain(*testing.M) { os.Exit(1) }; func TestA(*testing.T) {}`},
			fails:    true,
			want:     []string{"again, alone: example.test/a (the package)\n", "1 failed"},
		}, {
			name:     "what cannot be built does not run again",
			packages: map[string]string{"a": `func TestA(t *testing.T) { undefined() }`, "b": `func TestB(*testing.T) {}`},
			fails:    true,
			want:     []string{"undefined: undefined", "FAIL\texample.test/a [build failed]\n", "ok  \texample.test/b", "1 passed, 1 failed"},
			never:    []string{"again"},
		}, {
			name:     "go test itself fails",
			packages: map[string]string{"a": `func TestA(*testing.T) {}`},
			flags:    []string{"-nonsense"},
			fails:    true,
			want:     []string{"[setup failed]"},
		},
	})
}

// check runs each example in a directory of its own.
func check(t *testing.T, cases []example) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, c.packages)
			file := filepath.Join(dir, ".run", "flaky.txt")
			var out buffer
			args := append([]string{"-record", file, "-count=1"}, c.flags...)
			err := run(t.Context(), append(args, "--", "./..."), dir, &out, &out)
			if (err != nil) != c.fails {
				t.Errorf("the run ends with %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %q", want)
				}
			}
			for _, never := range c.never {
				if strings.Contains(out.String(), never) {
					t.Errorf("the output has %q", never)
				}
			}
			text, err := os.ReadFile(file)
			if c.file == "" && err == nil || c.file != "" && !strings.Contains(string(text), c.file) {
				t.Errorf("the file of flaky tests is %q (%v), want %q in it", text, err, c.file)
			}
			if t.Failed() {
				t.Logf("output:\n%s", out.String())
			}
		})
	}
}

func TestFlakyTestsOfAllPartsOfARunCount(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"a": `func TestA(t *testing.T) { if first("a") { t.Error("no") } }`})
	file := filepath.Join(dir, "flaky.txt")
	earlier := "FLAKY spec one: failed, then passed alone\n    FLAKY is not first here\nFLAKY spec two: failed, then passed alone\n"
	if err := os.WriteFile(file, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	var out buffer
	if err := run(t.Context(), []string{"-record", file, "-summary"}, dir, &out, &out); err != nil || out.String() != earlier {
		t.Errorf("the summary of two is %q, %v", out.String(), err)
	}
	if err := run(t.Context(), []string{"-record", file, "-count=1", "--", "./a"}, dir, &out, &out); !errors.Is(err, errFailed) {
		t.Errorf("a third flaky test: %v\n%s", err, out.String())
	}
	if err := run(t.Context(), []string{"-record", file, "-summary"}, dir, &out, &out); !errors.Is(err, errFailed) {
		t.Errorf("the summary of three: %v", err)
	}
}

func TestASignalEndsTheRunAndItsTests(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"a": `func TestA(t *testing.T) { println("under way"); <-make(chan int) }`})
	program := filepath.Join(dir, "retest")
	if built, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, built)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := &buffer{want: "under way", seen: make(chan struct{})}
	cmd := exec.CommandContext(ctx, program, "-v", "-count=1", "--", "./a")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-out.seen:
	case <-ctx.Done():
		t.Fatalf("the test did not begin:\n%s", out)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	// Wait returns when nobody holds the output any more: not the test either.
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != interrupted {
		t.Errorf("an interrupted run ends with %v:\n%s", err, out)
	}
	if strings.Contains(out.String(), "again") {
		t.Errorf("an interrupted run goes on:\n%s", out)
	}
}
