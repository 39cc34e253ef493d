package health

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// objectNames are the names that every expression knows, whatever the object holds.
//
//nolint:gochecknoglobals // a table
var objectNames = []string{
	"obj", "apiVersion", "kind", "group", "meta", "name", "generation", "annotations", "labels", "deleting",
	"spec", "status", "conditions",
}

// subject is the object that is judged, with what it may still cost. It answers for objectNames and copies nothing.
type subject struct {
	obj   map[string]any
	group string
	cost  int // steps that were taken
}

func (s *subject) field(name string) any {
	switch name {
	case "obj":
		return s.obj
	case "apiVersion", "kind", "spec", "status":
		return s.obj[name]
	case "group":
		return s.group
	case "meta":
		return s.obj["metadata"]
	case "name", "generation", "annotations", "labels":
		return object.Dict(s.obj, "metadata")[name]
	case "deleting":
		return deleting(s.obj)
	case "conditions":
		return object.Dict(s.obj, "status")["conditions"]
	}
	return nil
}

// scope is where an expression looks names up: the block around it, then the blocks around that, then the object.
type scope struct {
	outer   *scope
	subject *subject
	block   *block
	as      string // the name of item, if any
	item    ref.Val
	values  map[string]ref.Val // what was computed
}

// ResolveName looks a name up. It is always found: the compiler let no other through.
func (s *scope) ResolveName(name string) (any, bool) {
	if name == stepName {
		return s.subject.charge(), true
	}
	for at := s; at != nil; at = at.outer {
		if v, ok := at.own(name); ok {
			return v, true
		}
	}
	return s.subject.field(name), true
}

// Parent is nil: a scope asks those around it automatically.
func (s *scope) Parent() interpreter.Activation { return nil }

func (s *scope) own(name string) (ref.Val, bool) {
	if s.as != "" && s.as == name {
		return s.item, true
	}
	if s.block == nil {
		return nil, false
	}
	expr, isLet := s.block.let[name]
	arg, isArg := s.block.args[name]
	if !isLet && !isArg {
		return nil, false
	}
	if v, ok := s.values[name]; ok {
		return v, true
	}
	if s.values == nil {
		s.values = make(map[string]ref.Val, len(s.block.let)+len(s.block.args))
	}
	s.values[name] = types.NewErr("%s refers to itself", name)
	var v ref.Val
	var err error
	if isLet {
		v, err = expr.eval(s)
	} else {
		v, err = arg.eval(s.outer)
	}
	if err != nil {
		v = types.WrapErr(err)
	}
	s.values[name] = v
	return v, true
}

// eval computes an expression in a scope.
func (p *program) eval(s *scope) (ref.Val, error) {
	if !s.subject.charge() {
		return nil, errTooLarge
	}
	v := p.run.Eval(s)
	if s.subject.cost > maxCost {
		return nil, errTooLarge
	}
	if err, failed := v.(*types.Err); failed {
		return nil, err.Unwrap()
	}
	if v == nil || types.IsUnknown(v) {
		return types.NullValue, nil
	}
	return v, nil
}

var errTooLarge = errors.New("the object is too large to be judged")

// charge counts one step and reports whether it may be taken.
func (s *subject) charge() bool {
	s.cost++
	return s.cost <= maxCost
}

func (t *template) eval(s *scope) (ref.Val, error) {
	if len(t.parts) == 1 {
		return t.parts[0].eval(s)
	}
	var out string
	for _, p := range t.parts {
		v, err := p.eval(s)
		if err != nil {
			return nil, err
		}
		out += show(v)
	}
	return cut(out), nil
}

func (p part) eval(s *scope) (ref.Val, error) {
	if p.expr == nil {
		return p.constant, nil
	}
	return p.expr.eval(s)
}

// judge gives the verdict of the first rule that matches; false means that none did.
func (b *block) judge(s *scope) (Result, bool, error) {
	for i := range b.rules {
		r, decided, err := b.rules[i].judge(s)
		if err != nil || decided {
			return r, decided, err
		}
	}
	return Result{}, false, nil
}

func (r *rule) judge(s *scope) (Result, bool, error) {
	if r.when != nil {
		v, err := r.when.eval(s)
		if err != nil || !truth(v) {
			return Result{}, false, err
		}
	}
	if r.verdict {
		return r.decide(s)
	}
	if r.each == nil {
		return r.body.judge(&scope{outer: s, subject: s.subject, block: r.body})
	}
	over, err := r.each.eval(s)
	if err != nil {
		return Result{}, false, err
	}
	all := items(over)
	l, ok := all.(traits.Lister)
	if err, failed := all.(*types.Err); failed {
		return Result{}, false, err.Unwrap()
	}
	if !ok {
		return Result{}, false, nil
	}
	n, _ := l.Size().(types.Int)
	for i := range n {
		at := &scope{outer: s, subject: s.subject, as: r.as, item: l.Get(i)}
		result, decided, err := r.body.judge(&scope{outer: at, subject: s.subject, block: r.body})
		if err != nil || decided {
			return result, decided, err
		}
	}
	return Result{}, false, nil
}

func (r *rule) decide(s *scope) (Result, bool, error) {
	status, err := r.status.eval(s)
	if err != nil {
		return Result{}, false, err
	}
	message, err := r.message.eval(s)
	if err != nil {
		return Result{}, false, err
	}
	text := show(status)
	if text == none || text == "" {
		return Result{}, true, nil
	}
	if !isStatus(text) {
		return Result{}, false, fmt.Errorf("%.80q is no status", text)
	}
	return Result{Status: Status(text), Message: show(message)}, true, nil
}
