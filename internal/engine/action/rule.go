package action

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"sigs.k8s.io/yaml"
)

//go:embed rules/*.yaml
var rules embed.FS

// maxCost bounds the steps of one expression, as CEL counts them.
const maxCost = 1_000_000

// file is what one file says of an API group.
type file struct {
	Group string  `json:"group"`
	Kinds []entry `json:"kinds"`
}

// entry is what kinds of a group have in common.
type entry struct {
	For     []string          `json:"for"`
	Let     map[string]string `json:"let"` // names for expressions, which may not use one another
	Actions []ruleText        `json:"actions"`
}

type ruleText struct {
	Name        string      `json:"name"`
	DisplayName string      `json:"displayName"`
	IconClass   string      `json:"iconClass"`
	Offered     string      `json:"offered"`  // an expression; always, if it says nothing
	Disabled    string      `json:"disabled"` // an expression; never, if it says nothing
	Params      []paramText `json:"params"`
	Do          []stepText  `json:"do"`
}

type paramText struct {
	Name    string  `json:"name"`
	Default *string `json:"default"`
	Missing string  `json:"missing"` // what to say where it is not given
}

// stepText is one of fail, set, remove, append and create. Texts hold expressions in ${ }.
type stepText struct {
	When   string         `json:"when"`
	Fail   string         `json:"fail"`
	Set    string         `json:"set"`
	Remove string         `json:"remove"`
	Append string         `json:"append"`
	To     any            `json:"to"`
	Create map[string]any `json:"create"`
}

// kind is what is known of one kind.
type kind struct {
	let   map[string]*expr
	rules []rule
}

type rule struct {
	name, iconClass   string
	displayName       template
	offered, disabled *expr // nil: always, never
	params            []paramText
	steps             []step
	creates           bool
}

type step struct {
	when *expr // nil: always
	does verb
	path path
	to   template
}

type verb int

const (
	fails verb = iota
	sets
	removes
	appends
	creates
)

func (k *kind) rule(name string) *rule {
	for i := range k.rules {
		if k.rules[i].name == name {
			return &k.rules[i]
		}
	}
	return nil
}

func (k *kind) names() []string {
	var all []string
	for _, r := range k.rules {
		all = append(all, r.name)
	}
	return all
}

// readGroup reads the file of an API group. A group without one gives nothing.
func readGroup(name string) (map[string]*kind, error) {
	raw, err := rules.ReadFile("rules/" + name + ".yaml")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read actions of %s: %w", name, err)
	}
	kinds, err := readRules(raw)
	if err != nil {
		return nil, fmt.Errorf("read actions of %s: %w", name, err)
	}
	return kinds, nil
}

func readRules(raw []byte) (map[string]*kind, error) {
	var f file
	if err := yaml.UnmarshalStrict(raw, &f); err != nil {
		return nil, err
	}
	env, err := cel.NewEnv(append(functions(), cel.CustomTypeAdapter(adapter{}), cel.Variable("now", cel.TimestampType),
		cel.Variable("obj", cel.DynType), cel.Variable("spec", cel.DynType), cel.Variable("status", cel.DynType),
		cel.Variable("metadata", cel.DynType), cel.Variable("params", cel.DynType), cel.Variable("suffix", cel.StringType))...)
	if err != nil {
		return nil, fmt.Errorf("build the language: %w", err)
	}
	kinds := map[string]*kind{}
	for _, e := range f.Kinds {
		c := compiler{env: env}
		k := c.kind(e)
		if c.err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(e.For, ", "), c.err)
		}
		for _, name := range e.For {
			if kinds[name] != nil {
				return nil, fmt.Errorf("%s is there twice", name)
			}
			kinds[name] = k
		}
	}
	return kinds, nil
}

// compiler keeps the first error, so that reading a rule is a plain list of what it consists of.
type compiler struct {
	env *cel.Env
	err error
}

func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *compiler) kind(e entry) *kind {
	k := &kind{let: map[string]*expr{}}
	var names []cel.EnvOption
	for name, text := range e.Let {
		k.let[name] = c.expr(text)
		names = append(names, cel.Variable(name, cel.DynType))
	}
	env, err := c.env.Extend(names...)
	if err != nil {
		c.fail("let: %w", err)
		return k
	}
	c.env = env
	for _, text := range e.Actions {
		if k.rule(text.Name) != nil || text.Name == "" || len(text.Do) == 0 {
			c.fail("%q has no name, is there twice or does nothing", text.Name)
		}
		r := rule{
			name: text.Name, iconClass: text.IconClass, params: text.Params, displayName: c.template(text.DisplayName),
			offered: c.optional(text.Offered), disabled: c.optional(text.Disabled),
		}
		for _, s := range text.Do {
			r.steps = append(r.steps, c.step(s))
		}
		r.creates = slices.ContainsFunc(r.steps, func(s step) bool { return s.does == creates })
		k.rules = append(k.rules, r)
	}
	return k
}

func (c *compiler) step(text stepText) step {
	s := step{when: c.optional(text.When)}
	given := 0
	for does, of := range []string{fails: text.Fail, sets: text.Set, removes: text.Remove, appends: text.Append} {
		if of == "" {
			continue
		}
		given++
		s.does = verb(does)
		if s.does == fails {
			s.to = c.template(of)
			continue
		}
		p, err := readPath(of)
		if err != nil {
			c.fail("%w", err)
		}
		s.path = p
	}
	if text.Create != nil {
		given++
		s.does, s.to = creates, c.template(text.Create)
	}
	if given != 1 {
		c.fail("a step does one of fail, set, remove, append and create")
	}
	if writes := s.does == sets || s.does == appends; writes != (text.To != nil) {
		c.fail("set and append have a value in to, and nothing else has")
	} else if writes {
		s.to = c.template(text.To)
	}
	return s
}

// expr is one compiled expression.
type expr struct {
	text    string
	program cel.Program
}

func (c *compiler) optional(text string) *expr {
	if text == "" {
		return nil
	}
	return c.expr(text)
}

func (c *compiler) expr(text string) *expr {
	checked, issues := c.env.Compile(text)
	if issues.Err() != nil {
		c.fail("%s: %w", text, issues.Err())
		return nil
	}
	tree, factory := checked.NativeRep(), ast.NewExprFactory()
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.LiteralKind && e.AsLiteral() == types.NullValue {
			e.SetKindCase(factory.NewIdent(e.ID(), nothing))
			tree.SetReference(e.ID(), ast.NewIdentReference(nothing, nil))
		}
	}))
	program, err := c.env.Program(checked, cel.CostLimit(maxCost))
	if err != nil {
		c.fail("%s: %w", text, err)
		return nil
	}
	return &expr{text: text, program: program}
}

// scope is what expressions see in one run.
type scope map[string]any

func (e *expr) eval(s scope) (ref.Val, error) {
	v, _, err := e.program.Eval(map[string]any(s))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.text, err)
	}
	return v, nil
}

// holds is a condition; nothing counts as false.
func (e *expr) holds(s scope) (bool, error) {
	v, err := e.eval(s)
	if err != nil {
		return false, err
	}
	switch b := v.(type) {
	case types.Bool:
		return bool(b), nil
	case absent:
		return false, nil
	}
	return false, fmt.Errorf("%s: is a %s, not true or false", e.text, v.Type().TypeName())
}

// spread is the name under which a map holds another one, whose fields it has too unless it has its own.
const spread = "${...}"

// template is a value with expressions in its texts. A text that is one expression becomes what that gives.
type template struct {
	constant any
	parts    []part
	fields   map[string]template
	list     []template
}

type part struct {
	text string
	expr *expr
}

func (c *compiler) template(value any) template {
	switch v := value.(type) {
	case map[string]any:
		t := template{fields: map[string]template{}}
		for name, field := range v {
			t.fields[name] = c.template(field)
		}
		return t
	case []any:
		t := template{list: []template{}}
		for _, item := range v {
			t.list = append(t.list, c.template(item))
		}
		return t
	case string:
		if !strings.Contains(v, "${") {
			return template{constant: v}
		}
		var t template
		for v != "" {
			before, rest, more := strings.Cut(v, "${")
			if before != "" {
				t.parts = append(t.parts, part{text: before})
			}
			if !more {
				break
			}
			text, rest, ended := strings.Cut(rest, "}")
			if !ended {
				c.fail("%s: ${ has no }", v)
			}
			t.parts = append(t.parts, part{expr: c.expr(text)})
			v = rest
		}
		return t
	}
	return template{constant: value}
}

// value fills a template in. Fields and items that come to nothing are left out.
func (t template) value(s scope) (any, error) {
	switch {
	case t.fields != nil:
		return t.filled(s)
	case t.list != nil:
		list := []any{}
		for _, item := range t.list {
			v, err := item.value(s)
			if err != nil {
				return nil, err
			}
			if v != nil {
				list = append(list, v)
			}
		}
		return list, nil
	case len(t.parts) == 1 && t.parts[0].expr != nil:
		v, err := t.parts[0].expr.eval(s)
		if err != nil {
			return nil, err
		}
		return native(v)
	case len(t.parts) > 0:
		return t.text(s)
	}
	return t.constant, nil
}

func (t template) filled(s scope) (any, error) {
	fields := map[string]any{}
	for name, field := range t.fields {
		v, err := field.value(s)
		if err != nil {
			return nil, err
		}
		if more, ok := v.(map[string]any); ok && name == spread {
			for key, value := range more {
				if _, own := t.fields[key]; !own {
					fields[key] = value
				}
			}
		} else if v != nil && name != spread {
			fields[name] = v
		}
	}
	return fields, nil
}

// text fills a template in that is a text.
func (t template) text(s scope) (string, error) {
	if len(t.parts) == 0 {
		text, _ := t.constant.(string)
		return text, nil
	}
	var out strings.Builder
	for _, p := range t.parts {
		out.WriteString(p.text)
		if p.expr == nil {
			continue
		}
		v, err := p.expr.eval(s)
		if err != nil {
			return "", err
		}
		value, err := native(v)
		if err != nil {
			return "", err
		}
		if value != nil {
			fmt.Fprint(&out, value)
		}
	}
	return out.String(), nil
}
