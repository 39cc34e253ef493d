package action

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// scope is what the expressions of a kind see of an object.
func (k *kind) scope(obj map[string]any, params map[string]string, env Env) scope {
	given := make(map[string]any, len(params))
	for name, value := range params {
		given[name] = value
	}
	a := adapter{}
	s := scope{
		"obj": a.NativeToValue(obj), "spec": a.NativeToValue(obj["spec"]), "status": a.NativeToValue(obj["status"]),
		"metadata": a.NativeToValue(obj["metadata"]), "params": a.NativeToValue(given), "suffix": env.Suffix,
		"now": types.Timestamp{Time: env.Now}, nothing: absent{},
	}
	for name, e := range k.let {
		s[name] = func() any { // asked for once, if at all
			v, err := e.eval(s)
			if err != nil {
				return types.WrapErr(err)
			}
			return v
		}
	}
	return s
}

// list adds what is offered and not there yet.
func (k *kind) list(obj map[string]any, env Env, found map[string]Action) error {
	s := k.scope(obj, nil, env)
	for _, r := range k.rules {
		if _, there := found[r.name]; there {
			continue
		}
		if r.offered != nil {
			offered, err := r.offered.holds(s)
			if err != nil {
				return err
			}
			if !offered {
				continue
			}
		}
		var err error
		a := Action{Name: r.name, IconClass: r.iconClass, Params: []string{}}
		if a.DisplayName, err = r.displayName.text(s); err != nil {
			return err
		}
		if r.disabled != nil {
			if a.Disabled, err = r.disabled.holds(s); err != nil {
				return err
			}
		}
		for _, p := range r.params {
			a.Params = append(a.Params, p.Name)
		}
		found[r.name] = a
	}
	return nil
}

// run carries the steps of a rule out on a copy of the object. Expressions see the object as it was.
func (k *kind) run(r *rule, obj map[string]any, given map[string]string, env Env) ([]Impact, error) {
	params, err := r.given(given)
	if err != nil {
		return nil, err
	}
	s := k.scope(obj, params, env)
	changed, _ := copied(obj).(map[string]any)
	var created []Impact
	for _, st := range r.steps {
		if st.when != nil {
			applies, err := st.when.holds(s)
			if err != nil {
				return nil, err
			}
			if !applies {
				continue
			}
		}
		impact, err := st.run(s, changed)
		if err != nil {
			return nil, err
		}
		if impact != nil {
			created = append(created, *impact)
		}
	}
	if r.creates {
		return created, nil
	}
	return []Impact{{Operation: Patch, Object: changed}}, nil
}

// given checks parameters and fills in those that may be left out.
func (r *rule) given(params map[string]string) (map[string]string, error) {
	known := make(map[string]string, len(r.params))
	for _, p := range r.params {
		value, ok := params[p.Name]
		switch {
		case ok:
			known[p.Name] = value
		case p.Default != nil:
			known[p.Name] = *p.Default
		case p.Missing != "":
			return nil, errors.New(p.Missing)
		default:
			return nil, fmt.Errorf("%s needs the parameter %s", r.name, p.Name)
		}
	}
	for name := range params {
		if _, ok := known[name]; !ok {
			return nil, fmt.Errorf("%s takes no parameter %q", r.name, legible.Cut(name, 100))
		}
	}
	return known, nil
}

func (st step) run(s scope, obj map[string]any) (*Impact, error) {
	switch st.does {
	case fails:
		text, err := st.to.text(s)
		if err != nil {
			return nil, err
		}
		return nil, errors.New(text)
	case removes:
		return nil, st.path.remove(obj)
	}
	value, err := st.to.value(s)
	if err != nil {
		return nil, err
	}
	switch st.does {
	case sets:
		return nil, st.path.set(obj, value)
	case appends:
		return nil, st.path.append(obj, value)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("what is created is no object")
	}
	return &Impact{Operation: Create, Object: fields}, nil
}

// path leads to a field: its names from the root.
type path []string

// readPath reads a.b["c.d"].e.
func readPath(text string) (path, error) {
	var p path
	for rest := text; rest != ""; {
		if quoted, ok := strings.CutPrefix(rest, `["`); ok {
			name, after, closed := strings.Cut(quoted, `"]`)
			if !closed || name == "" {
				return nil, fmt.Errorf("path %s: [\" has no \"]", text)
			}
			p, rest = append(p, name), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("path %s: a name is empty", text)
		}
		p, rest = append(p, rest[:end]), strings.TrimPrefix(rest[end:], ".")
	}
	if len(p) == 0 {
		return nil, errors.New("a path is empty")
	}
	return p, nil
}

// parent finds the map that holds the field. It is nil where there is none, unless it may be made.
func (p path) parent(obj map[string]any, make bool) (map[string]any, error) {
	at := obj
	for i, name := range p[:len(p)-1] {
		switch next := at[name].(type) {
		case map[string]any:
			at = next
		case nil:
			if !make {
				return nil, nil
			}
			below := map[string]any{}
			at[name] = below
			at = below
		default:
			return nil, fmt.Errorf("%s is no map", strings.Join(p[:i+1], "."))
		}
	}
	return at, nil
}

func (p path) set(obj map[string]any, value any) error {
	parent, err := p.parent(obj, true)
	if err != nil {
		return err
	}
	parent[p[len(p)-1]] = value
	return nil
}

func (p path) remove(obj map[string]any) error {
	parent, err := p.parent(obj, false)
	if err == nil && parent != nil {
		delete(parent, p[len(p)-1])
	}
	return err
}

func (p path) append(obj map[string]any, value any) error {
	parent, err := p.parent(obj, true)
	if err != nil {
		return err
	}
	name := p[len(p)-1]
	list, ok := parent[name].([]any)
	if !ok && parent[name] != nil {
		return fmt.Errorf("%s is no list", strings.Join(p, "."))
	}
	parent[name] = append(list, value)
	return nil
}
