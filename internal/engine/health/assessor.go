package health

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/glob"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/script"
)

// Script judges the health of some kinds instead of the rules that come with the program.
type Script struct {
	Source string // Lua; what it returns has the fields status and message
	// OpenLibs gives it the libraries string, math and os.
	OpenLibs bool
}

// Assessor judges objects: by the scripts of a user where there is one for a kind, else as Assess does. It may be used
// from many goroutines.
type Assessor struct {
	exact    map[string]*override // by group/kind, or kind alone in the core group
	patterns []*override          // the more specific ones first
	now      func() time.Time
}

type override struct {
	key      string
	pattern  *glob.Pattern
	compiled func() (*script.Program, error)
}

// New builds an Assessor of overrides as ParseOverrides returns them. A script is compiled when it is first needed; one
// that cannot be compiled, or fails, gives Unknown with the reason. Keys that are no valid patterns match nothing.
func New(overrides map[string]Script) *Assessor {
	a := &Assessor{exact: map[string]*override{}}
	for key, s := range overrides {
		libs := script.Basic
		if s.OpenLibs {
			libs = script.Open
		}
		o := &override{key: key, compiled: sync.OnceValues(func() (*script.Program, error) {
			return script.Compile(s.Source, "health script of "+key, libs)
		})}
		a.exact[key] = o
		if isPattern(key) {
			if pattern, err := compilePattern(key); err == nil {
				o.pattern = pattern
				a.patterns = append(a.patterns, o)
			}
		}
	}
	slices.SortFunc(a.patterns, func(a, b *override) int {
		return cmp.Or(cmp.Compare(len(b.key), len(a.key)), cmp.Compare(a.key, b.key))
	})
	return a
}

// WithClock returns a copy of a whose scripts read the time from now. Without one it is the year 1 for them.
func (a *Assessor) WithClock(now func() time.Time) *Assessor {
	out := *a
	out.now = now
	return &out
}

// Assess judges obj, which it does not change or keep. It reports false where nothing is known about its kind, and where
// a script or the rules say nothing about it. An object that is being deleted is Progressing, whatever a script says.
func (a *Assessor) Assess(obj map[string]any) (Result, bool) {
	if len(a.exact) > 0 && !deleting(obj) {
		if o := a.find(groupKind(obj)); o != nil {
			return o.judge(obj, a.now)
		}
	}
	return Assess(obj)
}

// Judge is Assess for an object regardless of its deletion.
func (a *Assessor) Judge(obj map[string]any) (Result, bool) {
	if o := a.find(groupKind(obj)); o != nil {
		return o.judge(obj, a.now)
	}
	return Judge(obj)
}

// Knows reports whether objects of a kind are judged: a missing one then counts for its Application.
func (a *Assessor) Knows(group, kind string) bool {
	return a.find(group, kind) != nil || Knows(group, kind)
}

func (a *Assessor) find(group, kind string) *override {
	if len(a.exact) == 0 {
		return nil
	}
	key := kind
	if group != "" {
		key = group + "/" + kind
	}
	if o, ok := a.exact[key]; ok {
		return o
	}
	for _, o := range a.patterns {
		if o.pattern.Match(key) {
			return o
		}
	}
	return nil
}

func (o *override) judge(obj map[string]any, now func() time.Time) (Result, bool) {
	p, err := o.compiled()
	if err != nil {
		return Result{Status: Unknown, Message: err.Error()}, true
	}
	// What a script says is shown: no value of a Secret can be in it.
	in := script.Input{Object: object.WithoutSecrets(obj)}
	if now != nil {
		in.Now = now()
	}
	status, message, err := p.Health(in)
	if err != nil {
		return Result{Status: Unknown, Message: err.Error()}, true
	}
	if status == "" {
		return Result{}, false
	}
	if !isStatus(status) {
		return Result{Status: Unknown, Message: "the health script of " + o.key + " gives a status that does not exist"}, true
	}
	return Result{Status: Status(status), Message: message}, true
}

func isPattern(key string) bool { return strings.ContainsAny(key, `*?[{`) }
