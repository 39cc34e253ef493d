package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/source"
)

// job is a Request on the wire. Trees stay with the parent.
type job struct {
	App               render.App
	Tool              render.Tool
	Source            v1alpha1.ApplicationSource
	Revision          string
	Beside            map[string]string // revisions of the trees besides the source's own, by the names of Request.Beside
	Refs              bool              // the Application has several sources
	Namespace         string
	Cluster           render.Capabilities
	Settings          render.Settings
	Limits            render.Limits
	KustomizeVersions []string
}

// question is what a child asks about a tree.
type question struct {
	Tree string // a name of Request.Beside; "" is the source's own tree
	Op   op
	Name string
}

type op string

const (
	opFile    op = "file"
	opList    op = "list"
	opStat    op = "stat"
	opSum     op = "sum"
	opListSum op = "listsum"
)

// answer is what the parent says. The content of a file is the body of the frame.
type answer struct {
	Entries []source.Entry `json:",omitempty"`
	Sum     string         `json:",omitempty"`
	Fault   *fault         `json:",omitempty"`
}

// outcome is what a job gave. The manifests' JSON is the body of the frame, in order.
type outcome struct {
	Tool    render.Tool
	Deps    render.Deps
	Objects []item `json:",omitempty"`
	Fault   *fault `json:",omitempty"`
}

type item struct {
	Key     object.Key
	Version string
	Size    int64
}

// fault is an error on the wire: its text and the known error that it wraps.
type fault struct {
	Text string
	Is   string `json:",omitempty"`
}

// known are the errors that callers on the other side test for.
func known() map[string]error {
	return map[string]error{
		"not-exist": fs.ErrNotExist,
		"escape":    source.ErrEscape,
		"loop":      source.ErrLinkLoop,
		"too-large": source.ErrTooLarge,
		"sealed":    source.ErrSealed,
		"limit":     document.ErrLimit,
		"crash":     render.ErrCrash,
		"jsonnet":   render.ErrJsonnet,
		"canceled":  context.Canceled,
	}
}

func toFault(err error) *fault {
	if err == nil {
		return nil
	}
	f := &fault{Text: err.Error()}
	for name, k := range known() {
		if errors.Is(err, k) {
			f.Is = name
		}
	}
	return f
}

// maxFault bounds an error text that a child sends.
const maxFault = 8 << 10

func (f *fault) err() error {
	if f == nil {
		return nil
	}
	if len(f.Text) > maxFault {
		f.Text = f.Text[:maxFault]
	}
	return &remoteError{text: f.Text, is: known()[f.Is]}
}

// remoteError is an error that came over the wire.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

// talk sends a job and answers questions until the outcome comes.
func (c *child) talk(req render.Request) (render.Result, error) {
	j := job{
		App: req.App, Tool: req.Tool, Source: req.Source, Namespace: req.Namespace, Cluster: req.Cluster, Settings: req.Settings,
		Limits: req.Limits, Revision: req.Tree.Revision(), Beside: map[string]string{}, Refs: req.Refs != nil,
		KustomizeVersions: c.cfg.KustomizeVersions,
	}
	beside := req.Beside()
	for name, t := range beside {
		if t != nil {
			j.Beside[name] = t.Revision()
		}
	}
	if err := c.conn.send(kindJob, j); err != nil {
		return render.Result{}, err
	}
	for {
		var q question
		var out outcome
		k, body, err := c.conn.receive(req.Limits.Bytes, func(k kind) any {
			switch k {
			case kindAsk:
				return &q
			case kindResult:
				return &out
			}
			return nil
		})
		if err != nil {
			return render.Result{}, err
		}
		c.heard = true
		if k == kindResult {
			return result(out, body)
		}
		a, file := reply(req.Tree, beside, q)
		if err := c.conn.send(kindAnswer, a, file); err != nil {
			return render.Result{}, err
		}
	}
}

// reply answers one question.
func reply(tree source.Tree, beside map[string]source.Tree, q question) (a answer, file []byte) {
	if q.Tree != "" {
		tree = beside[q.Tree]
	}
	if tree == nil || !fs.ValidPath(q.Name) {
		return answer{Fault: toFault(fmt.Errorf("%s: %w", q.Name, fs.ErrNotExist))}, nil
	}
	var err error
	switch q.Op {
	case opFile:
		file, err = tree.ReadFile(q.Name)
	case opList:
		a.Entries, err = tree.ReadDir(q.Name)
	case opStat:
		var e source.Entry
		e, err = tree.Stat(q.Name)
		a.Entries = []source.Entry{e}
	case opSum:
		a.Sum, err = tree.Sum(q.Name)
	case opListSum:
		a.Sum, err = tree.ListSum(q.Name)
	default:
		err = fmt.Errorf("question %q is unknown", q.Op)
	}
	if err != nil {
		return answer{Fault: toFault(err)}, nil
	}
	return a, file
}

// result checks and unpacks an outcome.
func result(out outcome, body []byte) (render.Result, error) {
	res := render.Result{Tool: out.Tool, Deps: out.Deps}
	if out.Fault != nil {
		return res, out.Fault.err()
	}
	res.Objects = make([]object.Manifest, len(out.Objects))
	for i, o := range out.Objects {
		if o.Size < 0 || o.Size > int64(len(body)) {
			return render.Result{}, &brokenError{err: errors.New("sizes of manifests do not match"), protocol: true}
		}
		res.Objects[i] = object.Manifest{Key: o.Key, Version: o.Version, JSON: body[:o.Size:o.Size]}
		body = body[o.Size:]
	}
	if len(body) > 0 {
		return render.Result{}, &brokenError{err: errors.New("sizes of manifests do not match"), protocol: true}
	}
	return res, nil
}
