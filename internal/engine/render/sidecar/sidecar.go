// Package sidecar renders with config management plugins of Argo CD: each is a server of another container that listens on a
// socket in a directory which both share. It sends the files of the repository, and gets manifests.
package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// DefaultDir is where Argo CD has the sockets of plugins.
const DefaultDir = "/home/argocd/cmp-server/plugins"

// Bounds of a plugin's answer.
const (
	maxAnswer     = 64 << 20
	maxParameters = 500
	maxMessage    = 2000 // bytes of what it says about a failure
	sizeChunk     = 64 << 10
	perQuick      = 10 * time.Second // for a question without files
)

// service is the name of the service of the protocol.
const service = "/plugin.ConfigManagementPluginService/"

// Renderer is a render.Renderer that has plugins render. It is safe for concurrent use.
type Renderer struct {
	Dir string // of the sockets
	// Temp is a directory for archives, which are deleted before anything can open them.
	Temp string
	// Exclude returns patterns of paths that plugins do not get; nil: they get all.
	Exclude func() []string
	// At bounds how many archives are made at a time; its capacity is the bound.
	At chan struct{}
}

var _ render.Plugins = (*Renderer)(nil)

// validName is what the name of a plugin may be: it becomes the name of a file.
var validName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,252}$`)

// Render has the plugin of the source make the manifests, or the first one that knows the files where the source names none.
func (r *Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	req.Limits = req.Limits.WithDefaults()
	env, deps := render.PluginEnvironment(req)
	deps.Cluster, deps.Revision = true, true // the plugin may use any variable
	res := render.Result{Tool: render.Plugin, Deps: deps}
	err := limited(ctx, req, func(ctx context.Context) error {
		objects, err := r.objects(ctx, req, env)
		if err == nil {
			res.Objects = objects.Manifests()
		}
		return err
	})
	return res, err
}

// limited asks plugins for as long as a source may take. A plugin that hangs holds nothing longer than that.
func limited(ctx context.Context, req render.Request, ask func(context.Context) error) error {
	seconds := req.Limits.WithDefaults().Seconds
	within, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	err := ask(within)
	if err != nil && ctx.Err() == nil && (within.Err() != nil || errors.Is(err, context.DeadlineExceeded)) {
		return fmt.Errorf("%w: the plugin was given %d s; make the source smaller, or the plugin quicker", render.ErrTimeout, seconds)
	}
	return err
}

// Claims reports whether a plugin knows the files of a source that names no tool.
func (r *Renderer) Claims(ctx context.Context, req render.Request) (bool, error) {
	names, err := r.names()
	if err != nil || len(names) == 0 {
		return false, err
	}
	env, _ := render.PluginEnvironment(req)
	j := r.job(req, env)
	defer j.close()
	name := ""
	err = limited(ctx, req, func(ctx context.Context) error {
		name, err = j.discover(ctx, names)
		return err
	})
	return name != "", err
}

// Announce returns the parameters that the plugin of a source has.
func (r *Renderer) Announce(ctx context.Context, req render.Request) ([]render.Announcement, error) {
	env, _ := render.PluginEnvironment(req)
	j := r.job(req, env)
	defer j.close()
	var a announcements
	err := limited(ctx, req, func(ctx context.Context) error {
		name, err := j.choose(ctx)
		if err != nil {
			return err
		}
		return j.stream(ctx, name, "GetParametersAnnouncement", &a)
	})
	return a.list, err
}

// Has reports whether there is a plugin of that name; "" for any.
func (r *Renderer) Has(name string) bool {
	if name == "" {
		names, err := r.names()
		return err == nil && len(names) > 0
	}
	info, err := os.Stat(r.socket(name))
	return err == nil && validName.MatchString(name) && info.Mode()&fs.ModeSocket != 0
}

// Names lists the plugins, sorted.
func (r *Renderer) Names() []string {
	names, err := r.names()
	if err != nil {
		return nil
	}
	return names
}

func (r *Renderer) socket(name string) string { return filepath.Join(r.Dir, name+".sock") }

// names lists the plugins, sorted.
func (r *Renderer) names() ([]string, error) {
	entries, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w: %w", render.ErrUnavailable, err)
	}
	var out []string
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ".sock"); is && e.Type()&fs.ModeSocket != 0 && validName.MatchString(name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// objects has a plugin render, and reads what it sent.
func (r *Renderer) objects(ctx context.Context, req render.Request, env []string) (*document.Set, error) {
	j := r.job(req, env)
	defer j.close()
	name, err := j.choose(ctx)
	if err != nil {
		return nil, err
	}
	var made manifests
	if err := j.stream(ctx, name, "GenerateManifest", &made); err != nil {
		return nil, err
	}
	set := document.NewSet(min(req.Limits.Bytes, maxAnswer), req.Limits.Objects)
	for i, raw := range made.list {
		if err := set.AddYAML(fmt.Sprintf("manifest %d of plugin %s", i+1, name), raw); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// job is one rendering.
type job struct {
	r    *Renderer
	req  render.Request
	env  []string
	pack *archive // once it was made
}

func (r *Renderer) job(req render.Request, env []string) *job { return &job{r: r, req: req, env: env} }

func (j *job) close() {
	if j.pack != nil {
		j.pack.close()
	}
}

// choose finds the plugin of the source.
func (j *job) choose(ctx context.Context) (string, error) {
	if p := j.req.Source.Plugin; p != nil && p.Name != "" {
		return p.Name, j.named(ctx, p.Name)
	}
	names, err := j.r.names()
	if err != nil {
		return "", err
	}
	name, err := j.discover(ctx, names)
	if err == nil && name == "" {
		err = fmt.Errorf("%w: none of %d knows the files; name one in spec.source.plugin.name", render.ErrNoPlugin, len(names))
	}
	return name, err
}

// discover returns the first plugin that knows the files; "" for none.
func (j *job) discover(ctx context.Context, names []string) (string, error) {
	for _, name := range names {
		var c configuration
		if err := j.ask(ctx, name, &c); err != nil {
			return "", err
		}
		if !c.discovers {
			continue
		}
		var m match
		if err := j.stream(ctx, name, "MatchRepository", &m); err != nil {
			return "", err
		}
		if m.supported {
			return name, nil
		}
	}
	return "", nil
}

// named checks that a plugin is there, and takes the files where it is set up to say so.
func (j *job) named(ctx context.Context, name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%w: %.100q is no name of a plugin", render.ErrNoPlugin, name)
	}
	if !j.r.Has(name) {
		return fmt.Errorf("%w: there is no socket %s.sock; add the sidecar to the agent, or correct spec.source.plugin.name (with -VERSION "+
			"where the plugin has one)", render.ErrNoPlugin, name)
	}
	var c configuration
	if err := j.ask(ctx, name, &c); err != nil || !c.discovers {
		return err
	}
	var m match
	if err := j.stream(ctx, name, "MatchRepository", &m); err != nil || m.supported {
		return err
	}
	return fmt.Errorf("plugin %s does not know the files: its discovery finds nothing in %s; correct spec.source.path or its plugin.yaml",
		name, j.req.Source.Path)
}

// dial opens a connection to a plugin. Nothing is sent yet.
func (j *job) dial(name string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("unix:"+j.r.socket(name), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig())
	if err != nil {
		return nil, fmt.Errorf("connect to plugin %s: %w: %w", name, render.ErrUnavailable, err)
	}
	return conn, nil
}

// ask asks a plugin what it is set up for.
func (j *job) ask(ctx context.Context, name string, into *configuration) error {
	conn, err := j.dial(name)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	quick, cancel := context.WithTimeout(ctx, perQuick)
	defer cancel()
	err = conn.Invoke(quick, service+"CheckPluginConfiguration", empty{}, into)
	switch {
	case err == nil:
		return nil
	case quick.Err() != nil && ctx.Err() == nil:
		return fmt.Errorf("plugin %s: %w: no answer in %s; check the log of its container", name, render.ErrUnavailable, perQuick)
	}
	return said(name, err)
}

// stream sends the files to a method of a plugin, and reads its answer.
func (j *job) stream(ctx context.Context, name, method string, into reply) error {
	if err := j.packed(ctx); err != nil {
		return err
	}
	conn, err := j.dial(name)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, service+method)
	if err != nil {
		return said(name, err)
	}
	if err := j.send(s); err != nil && !errors.Is(err, io.EOF) { // the plugin says itself why it takes no more
		return said(name, err)
	}
	if err := s.CloseSend(); err != nil {
		return said(name, err)
	}
	if err := s.RecvMsg(into); err != nil {
		return said(name, err)
	}
	return nil
}

// packed makes the archive once.
func (j *job) packed(ctx context.Context) (err error) {
	if j.pack != nil {
		return nil
	}
	if j.r.At != nil {
		select {
		case j.r.At <- struct{}{}:
			defer func() { <-j.r.At }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var exclude []string
	if j.r.Exclude != nil {
		exclude = j.r.Exclude()
	}
	j.pack, err = pack(ctx, j.req.Tree, j.r.Temp, exclude)
	return err
}

func (j *job) send(s grpc.ClientStream) error {
	first := about{app: j.req.App.Name, path: j.req.Source.Path, checksum: j.pack.checksum, size: j.pack.size, env: j.env}
	if err := s.SendMsg(first); err != nil {
		return err
	}
	in := io.NewSectionReader(j.pack.file, 0, j.pack.size)
	buf := make([]byte, sizeChunk)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if err := s.SendMsg(chunk(buf[:n])); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archive for plugin: %w", err)
		}
	}
}

// said is the error of a plugin that failed, or that could not be reached. It has what the plugin printed, without what looks
// like a secret.
func said(name string, err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return fmt.Errorf("plugin %s: %w", name, err)
	}
	text := legible.Text(redact.Text(s.Message()), maxMessage)
	switch s.Code() {
	case codes.Canceled:
		return fmt.Errorf("plugin %s: %w", name, context.Canceled)
	case codes.DeadlineExceeded:
		return fmt.Errorf("plugin %s: %w", name, context.DeadlineExceeded)
	case codes.Unavailable:
		return fmt.Errorf("plugin %s: %w: %s; check the log of its container", name, render.ErrUnavailable, text)
	case codes.Unimplemented:
		return fmt.Errorf("plugin %s does not know the request: %s; use argocd-cmp-server 2.6 or later in its container", name, text)
	case codes.ResourceExhausted:
		return fmt.Errorf("plugin %s sent too much, or got too much: %w: %s", name, document.ErrLimit, text)
	}
	return fmt.Errorf("plugin %s failed: %s", name, text)
}

// cut divides a variable into its name and its value.
func cut(variable string) (name, value string) {
	name, value, _ = strings.Cut(variable, "=")
	return name, value
}
