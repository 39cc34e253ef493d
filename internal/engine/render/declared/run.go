package declared

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/bundle"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/sandbox"
)

// Bounds of a run.
const (
	maxStderr = 16 << 10  // bytes that are looked at
	memory    = 1 << 30   // bytes of data of each process
	maxFile   = 256 << 20 // bytes of each file that a plugin writes
)

// run runs commands of a plugin one after the other, on the files of a source, and returns the output of the last one. doing is what
// the last one is for.
func (r *Renderer) run(ctx context.Context, req render.Request, d *declaration, doing string, commands ...command) ([]byte, error) {
	leave, err := r.enter(ctx, d)
	if err != nil {
		return nil, err
	}
	defer leave()
	limited, cancel := context.WithTimeoutCause(ctx, limit(req), fmt.Errorf("%w: plugin %s was given %s to %s; make the source "+
		"smaller, or the plugin quicker", render.ErrTimeout, d.name(), limit(req), doing))
	defer cancel()
	j, err := r.begin(limited, req, d, commands)
	if err != nil {
		return nil, inTime(ctx, limited, err)
	}
	defer j.end()
	var out []byte
	for i, c := range commands {
		if len(c.Command) == 0 {
			continue
		}
		what := doing
		if i < len(commands)-1 {
			what = "init"
		}
		if out, err = j.do(limited, what, c); err != nil {
			return nil, inTime(ctx, limited, err)
		}
	}
	return out, nil
}

// inTime is an error of a run, or that its own time was over where that was the reason.
func inTime(ctx, limited context.Context, err error) error {
	if ctx.Err() == nil && limited.Err() != nil {
		return context.Cause(limited)
	}
	return err
}

// job is one run of a plugin: a directory with the files of the repository, an empty one for temporary files, and one for its home.
type job struct {
	r    *Renderer
	d    *declaration
	req  render.Request
	base string // directory of the run, in r.Work
	env  []string
	path string
	read []string // directories of its programs
}

func (r *Renderer) begin(ctx context.Context, req render.Request, d *declaration, commands []command) (*job, error) {
	j := &job{r: r, d: d, req: req, path: r.Path}
	if j.path == "" {
		j.path = os.Getenv("PATH")
	}
	j.read = programs(commands, j.path)
	if err := os.MkdirAll(r.Work, 0o700); err != nil {
		return nil, fmt.Errorf("make directory for plugin: %w", err)
	}
	work, err := filepath.Abs(r.Work)
	if err == nil {
		work, err = filepath.EvalSymlinks(work)
	}
	if err == nil {
		j.base, err = os.MkdirTemp(work, "run-")
	}
	if err != nil {
		return nil, fmt.Errorf("make directory for plugin: %w", err)
	}
	if err := j.fill(ctx); err != nil {
		j.end()
		return nil, err
	}
	env, _ := render.PluginEnvironment(req)
	for _, variable := range env {
		if strings.ContainsRune(variable, 0) {
			j.end()
			return nil, errors.New("a variable or a parameter for the plugin has a zero byte; remove it from spec.source.plugin")
		}
	}
	j.env = append(env, "PATH="+j.path, "HOME="+j.home(), "TMPDIR="+j.temp(), "LANG=C.UTF-8")
	return j, nil
}

func (j *job) files() string { return filepath.Join(j.base, "files") }
func (j *job) home() string  { return filepath.Join(j.base, "home") }
func (j *job) temp() string  { return filepath.Join(j.base, "tmp") }

// end deletes what the run has left.
func (j *job) end() { _ = remove(filepath.Dir(j.base), filepath.Base(j.base)) }

// remove deletes a directory whose owner may have made it unreadable. Links in it are deleted, and not followed.
func remove(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err = root.RemoveAll(name); err == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), name, func(at string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && root.Chmod(at, 0o700) != nil {
			return fs.SkipDir
		}
		return nil // a directory that could not be read can be read now
	})
	return root.RemoveAll(name)
}

// fill writes the files of the repository. They come with no links, and nothing else writes there yet.
func (j *job) fill(ctx context.Context) error {
	for _, dir := range []string{j.files(), j.home(), j.temp()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make directory for plugin: %w", err)
		}
	}
	root, err := os.OpenRoot(j.files())
	if err != nil {
		return fmt.Errorf("make directory for plugin: %w", err)
	}
	defer func() { _ = root.Close() }()
	var exclude []string
	if j.r.Exclude != nil {
		exclude = j.r.Exclude()
	}
	return bundle.Read(ctx, j.req.Tree, exclude, writer{root, j.d.Spec.PreserveFileMode})
}

// writer writes files into a directory.
type writer struct {
	root  *os.Root
	modes bool // files that can be executed stay so
}

// Dir implements bundle.Sink.
func (w writer) Dir(name string) error {
	if err := w.root.Mkdir(name, 0o700); err != nil {
		return fmt.Errorf("write files for plugin: %w", err)
	}
	return nil
}

// File implements bundle.Sink.
func (w writer) File(name string, mode fs.FileMode, content []byte) error {
	perm := fs.FileMode(0o600)
	if w.modes && mode.Perm()&0o111 != 0 {
		perm = 0o700
	}
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("write files for plugin: %w", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write files for plugin: %w", err)
	}
	return nil
}

// do runs one command in the directory of the source.
func (j *job) do(ctx context.Context, doing string, c command) ([]byte, error) {
	name := j.d.name()
	dir := filepath.Join(j.files(), filepath.FromSlash(j.req.Source.Path))
	program, err := find(c.Command[0], dir, j.path)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %s: %w; add the program to the container of the agent, or run the plugin as a sidecar",
			name, doing, err)
	}
	most := min(j.req.Limits.WithDefaults().Bytes, int64(maxOutput))
	out, err := sandbox.Program{
		Path: program, Args: append(append([]string{}, c.Command[1:]...), c.Args...), Env: j.env, Dir: dir,
		Output: most, Stderr: maxStderr, Box: j.box(),
	}.Run(ctx)
	var exit *sandbox.ExitError
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &exit):
		return nil, fmt.Errorf("plugin %s: %s: %w%s%s", name, doing, exit, words(exit.Stderr, out), j.hint(exit.Stderr))
	case errors.Is(err, sandbox.ErrOutput):
		return nil, fmt.Errorf("plugin %s: %s: it printed more than %d MiB: %w; split the application", name, doing, most>>20, document.ErrLimit)
	case errors.Is(err, sandbox.ErrConfine):
		return nil, fmt.Errorf("plugin %s: %w: %w; run the plugin as a sidecar, or start the agent with --plugins-unconfined",
			name, render.ErrUnavailable, err)
	}
	return nil, fmt.Errorf("plugin %s: %s: %w", name, doing, err)
}

// maxOutput bounds what a plugin prints.
const maxOutput = 64 << 20

// box is what the programs of a plugin may do.
func (j *job) box() *sandbox.Box {
	return &sandbox.Box{
		Read: j.read, Write: []string{j.base}, Memory: memory, CPU: limit(j.req), File: maxFile,
		Network: j.d.Metadata.Annotations[AnnotationNetwork] == "true", Try: j.r.Unconfined,
	}
}

// programs are the directories of programs that can be read: those of the search path, and those of commands that are found before any
// of them runs. What is relative to the source is in the directory of the run, whose links a command can change: it adds nothing.
func programs(commands []command, path string) []string {
	var read []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			read = append(read, dir)
		}
	}
	for _, c := range commands {
		if len(c.Command) == 0 || strings.ContainsRune(c.Command[0], filepath.Separator) && !filepath.IsAbs(c.Command[0]) {
			continue
		}
		program, err := find(c.Command[0], "", path)
		if err != nil {
			continue // it is reported when it is its turn
		}
		read = append(read, filepath.Dir(program))
		if real, err := filepath.EvalSymlinks(program); err == nil {
			read = append(read, filepath.Dir(real))
		}
	}
	return read
}

// find returns the absolute path of a program: one with a slash is relative to dir, another one is in the search path.
func find(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	for _, in := range filepath.SplitList(path) {
		if full := filepath.Join(in, name); filepath.IsAbs(in) && executable(full) == nil {
			return full, nil
		}
	}
	if strings.ContainsAny(name, " \t") {
		return "", fmt.Errorf("%w: %q is no program: write the program and each argument as an item of its own, or have sh -c run the line",
			sandbox.ErrStart, name)
	}
	return "", fmt.Errorf("%w: %s is not in PATH", sandbox.ErrStart, name)
}

func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", sandbox.ErrStart, err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%w: %s: %w", sandbox.ErrStart, file, exec.ErrNotFound)
	}
	return nil
}
