package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
	"github.com/slipway-gitops/slipway/internal/engine/render/jsonnet"
	"github.com/slipway-gitops/slipway/internal/engine/render/kustomize"
	"github.com/slipway-gitops/slipway/internal/source"
)

// arg is the hidden argument that makes a program a render worker.
const arg = "render-worker"

// IsChild reports whether args, as in os.Args, ask the program to be a render worker. A program that uses New must test
// this before anything else, and then call Main and exit.
func IsChild(args []string) bool { return len(args) == 3 && args[1] == arg }

// maxStack ends endless recursion long before it has eaten the memory. Templates that Helm allows need a few MiB.
const maxStack = 64 << 20

// Main is the whole life of a render worker: it gives up what a renderer needs not, serves jobs that come on in and
// returns when in ends. It changes the process for good.
func Main(args []string, in io.Reader, out io.Writer) error {
	return Serve(args, in, out, Renderers)
}

// Renderers returns the renderers of a worker, which serves one job at a time. versions are registered names of
// Kustomize versions.
func Renderers(versions []string) map[render.Tool]render.Renderer {
	return map[render.Tool]render.Renderer{
		render.Helm:      helm.Renderer{},
		render.Kustomize: kustomize.New(versions...),
		render.Directory: jsonnet.New(),
	}
}

// Serve is Main with renderers of the caller's choice.
func Serve(args []string, in io.Reader, out io.Writer, renderers func(versions []string) map[render.Tool]render.Renderer) error {
	memory, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return fmt.Errorf("read memory limit: %w", err)
	}
	silence()
	// The collector works harder before the hard limit ends the process.
	debug.SetMemoryLimit(memory / 4 * 3)
	debug.SetTraceback("none")
	debug.SetMaxStack(maxStack)
	if err := confine(memory); err != nil {
		return fmt.Errorf("confine render worker: %w", err)
	}
	s := &server{conn: newConn(in, out), renderers: renderers}
	for {
		err := s.serve()
		var broken *brokenError
		if errors.As(err, &broken) && errors.Is(err, io.EOF) {
			return nil // the parent has no more jobs
		}
		if err != nil {
			return err
		}
	}
}

// silence keeps libraries from printing: their warnings quote values. It also takes the network from the one HTTP
// client that all libraries share.
func silence() {
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	http.DefaultTransport = refuseHTTP{} //nolint:forbidigo // replaced, not used
}

type refuseHTTP struct{}

// RoundTrip refuses every request.
func (refuseHTTP) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("a renderer has no network; copy the file into the repository")
}

type server struct {
	conn      *conn
	renderers func([]string) map[render.Tool]render.Renderer
}

// serve does one job.
func (s *server) serve() error {
	var j job
	if _, _, err := s.conn.receive(0, func(k kind) any {
		if k == kindJob {
			return &j
		}
		return nil
	}); err != nil {
		return err
	}
	res, err := s.render(j)
	out := outcome{Tool: res.Tool, Deps: res.Deps, Fault: toFault(err)}
	if err != nil {
		return s.conn.send(kindResult, out)
	}
	body := make([][]byte, len(res.Objects))
	for i, o := range res.Objects {
		out.Objects = append(out.Objects, item{Key: o.Key, Version: o.Version, Size: int64(len(o.JSON))})
		body[i] = o.JSON
	}
	return s.conn.send(kindResult, out, body...)
}

// render runs the renderer. A panic is reported and not repeated: its value can quote input.
func (s *server) render(j job) (res render.Result, err error) {
	link := &link{conn: s.conn}
	req := render.Request{
		App: j.App, Tool: j.Tool, Source: j.Source, Namespace: j.Namespace, Cluster: j.Cluster, Settings: j.Settings, Limits: j.Limits,
		Tree: &remoteTree{link: link, revision: j.Revision},
	}
	if j.Refs {
		req.Refs = map[string]source.Tree{}
	}
	beside := make(map[string]source.Tree, len(j.Beside))
	for name, revision := range j.Beside {
		beside[name] = &remoteTree{link: link, name: name, revision: revision}
	}
	req.SetBeside(beside)
	r, ok := s.renderers(j.KustomizeVersions)[j.Tool]
	if !ok {
		return render.Result{}, fmt.Errorf("render worker cannot render %s", j.Tool)
	}
	defer func() {
		if recover() != nil {
			res = render.Result{Tool: j.Tool, Deps: render.Deps{Cluster: true}}
			err = fmt.Errorf("render %s as %s: %w; report this with the source that causes it", j.Source.Path, j.Tool, render.ErrCrash)
		}
		if link.err != nil {
			// The parent is gone: the result is not wanted any more.
			os.Exit(1)
		}
	}()
	return r.Render(context.Background(), req)
}

// link asks the parent, one question at a time.
type link struct {
	mu   sync.Mutex
	conn *conn
	err  error
}

func (l *link) ask(q question) (answer, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return answer{}, nil, l.err
	}
	if l.err = l.conn.send(kindAsk, q); l.err != nil {
		return answer{}, nil, l.err
	}
	var a answer
	var body []byte
	_, body, l.err = l.conn.receive(1<<40, func(k kind) any {
		if k == kindAnswer {
			return &a
		}
		return nil
	})
	if l.err != nil {
		return answer{}, nil, l.err
	}
	return a, body, a.Fault.err()
}

// remoteTree is a Tree of the parent.
type remoteTree struct {
	link     *link
	name     string // of Request.Beside; "" is the source's own tree
	revision string
}

var _ source.Tree = (*remoteTree)(nil)

// Revision is that of the parent's tree.
func (t *remoteTree) Revision() string { return t.revision }

// ReadFile asks for a file.
func (t *remoteTree) ReadFile(name string) ([]byte, error) {
	_, body, err := t.link.ask(question{Tree: t.name, Op: opFile, Name: name})
	return body, err
}

// ReadDir asks for a listing.
func (t *remoteTree) ReadDir(name string) ([]source.Entry, error) {
	a, _, err := t.link.ask(question{Tree: t.name, Op: opList, Name: name})
	return a.Entries, err
}

// Stat asks what name is.
func (t *remoteTree) Stat(name string) (source.Entry, error) {
	a, _, err := t.link.ask(question{Tree: t.name, Op: opStat, Name: name})
	if err != nil || len(a.Entries) != 1 {
		return source.Entry{}, err
	}
	return a.Entries[0], nil
}

// Sum asks for the identity of name.
func (t *remoteTree) Sum(name string) (string, error) {
	a, _, err := t.link.ask(question{Tree: t.name, Op: opSum, Name: name})
	return a.Sum, err
}

// ListSum asks for the identity of a listing.
func (t *remoteTree) ListSum(name string) (string, error) {
	a, _, err := t.link.ask(question{Tree: t.name, Op: opListSum, Name: name})
	return a.Sum, err
}
