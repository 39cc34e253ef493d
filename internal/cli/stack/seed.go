package stack

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/slipway-gitops/slipway/dev/demo"
)

const (
	demoRepository = "demo.git"
	demoBranch     = "refs/heads/main"
)

// seed makes the demo repository, unless it is there: what people committed to it stays.
func (d dir) seed(ctx context.Context) error {
	bare := d.file("git", demoRepository)
	if _, err := os.Stat(bare); err == nil {
		if _, err := runGit(ctx, bare, nil, "rev-parse", "--verify", "--quiet", demoBranch); err == nil {
			return nil
		}
	}
	if err := os.MkdirAll(d.git(), 0o700); err != nil {
		return fmt.Errorf("make demo repository: %w", err)
	}
	if _, err := runGit(ctx, "", nil, "init", "--quiet", "--bare", "--initial-branch=main", bare); err != nil {
		return fmt.Errorf("make demo repository: %w", err)
	}
	files, err := demo.Repository()
	if err != nil {
		return err
	}
	stream, err := importStream(files)
	if err != nil {
		return err
	}
	if _, err := runGit(ctx, bare, stream, "fast-import", "--quiet", "--date-format=now"); err != nil {
		return fmt.Errorf("fill demo repository: %w", err)
	}
	return nil
}

// importStream is one commit of all files, in the language of git fast-import: no work tree and no index are needed.
func importStream(files fs.FS) ([]byte, error) {
	var out bytes.Buffer
	const message = "Begin with five applications\n"
	fmt.Fprintf(&out, "commit %s\ncommitter Slipway <slipway@localhost> now\ndata %d\n%s", demoBranch, len(message), message)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read demo files: %w", err)
	}
	return out.Bytes(), nil
}

// runGit runs git without the configuration of the user or the machine, and returns its output.
func runGit(ctx context.Context, gitDir string, stdin []byte, args ...string) (string, error) {
	verb := args[0]
	if gitDir != "" {
		args = append([]string{"--git-dir", gitDir}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=")
	cmd.Env = withoutEmpty(cmd.Env)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", verb, err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// withoutEmpty drops variables that a later entry empties: git takes an empty GIT_DIR for a name.
func withoutEmpty(env []string) []string {
	empty := map[string]bool{}
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); value == "" {
			empty[name] = true
		}
	}
	var out []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !empty[name] {
			out = append(out, e)
		}
	}
	return out
}
