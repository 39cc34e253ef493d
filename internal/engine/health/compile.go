package health

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/parser"
)

// Limits of the language.
const (
	maxExprSize  = 4 << 10 // code points of one expression
	maxExprDepth = 40
	maxNesting   = 12      // rules within rules
	maxCost      = 100_000 // evaluations and rounds of loops, for one object
	maxItems     = 5000    // of a list that is walked
)

// compiler makes programs of expressions. It is built when the first custom kind is judged.
type compiler struct {
	parser *parser.Parser
	interp interpreter.Interpreter
	shared map[string]ruleSet
}

func newCompiler() (*compiler, error) {
	p, err := parser.NewParser(parser.Macros(parser.AllMacros...), parser.MaxRecursionDepth(maxExprDepth),
		parser.ExpressionSizeCodePointLimit(maxExprSize), parser.ErrorRecoveryLimit(2), parser.ErrorReportingLimit(2))
	if err != nil {
		return nil, fmt.Errorf("build parser of health rules: %w", err)
	}
	dispatcher := interpreter.NewDispatcher()
	if err := dispatcher.Add(overloads()...); err != nil {
		return nil, fmt.Errorf("build functions of health rules: %w", err)
	}
	adapter, provider := types.DefaultTypeAdapter, types.NewEmptyRegistry()
	attributes := interpreter.NewAttributeFactory(containers.DefaultContainer, adapter, provider)
	c := &compiler{
		parser: p,
		interp: interpreter.NewInterpreter(dispatcher, containers.DefaultContainer, provider, adapter, attributes),
	}
	shared, err := readRuleFile(sharedFile)
	if err != nil {
		return nil, err
	}
	if shared != nil {
		c.shared = shared.Sets
	}
	return c, nil
}

// program is one expression, ready to run.
type program struct {
	run interpreter.Interpretable
}

// names are those that an expression may use.
type names struct {
	outer *names
	own   []string
	file  *ruleFile
	depth int
}

func (n *names) has(name string) bool {
	for ; n != nil; n = n.outer {
		if slices.Contains(n.own, name) {
			return true
		}
	}
	return slices.Contains(objectNames, name)
}

// with adds names. New ones must not hide others, which would be hard to read; parameters may, since the author of a
// set cannot know the names around its uses.
func (n *names) with(parameters []string, more ...string) (*names, error) {
	if n.depth >= maxNesting {
		return nil, errors.New("rules are nested too deeply")
	}
	for _, name := range more {
		if n.has(name) || slices.Contains(parameters, name) {
			return nil, fmt.Errorf("the name %s has another meaning here", name)
		}
	}
	return &names{outer: n, own: append(more, parameters...), file: n.file, depth: n.depth + 1}, nil
}

func (c *compiler) expr(text string, known *names) (*program, error) {
	parsed, errs := c.parser.Parse(common.NewTextSource(text))
	if errs != nil && len(errs.GetErrors()) > 0 {
		first := errs.GetErrors()[0]
		return nil, fmt.Errorf("%q: %s at column %d", text, first.Message, first.Location.Column()+1)
	}
	r := &rewriter{make: ast.NewExprFactory(), known: known.has}
	safe := r.expr(parsed.Expr())
	if r.err != nil {
		return nil, fmt.Errorf("%q: %w", text, r.err)
	}
	run, err := c.interp.NewInterpretable(ast.NewAST(safe, ast.NewSourceInfo(nil)))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return &program{run: run}, nil
}

// exprs compiles named expressions.
func (c *compiler) exprs(texts map[string]string, known *names) (map[string]*program, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	out := make(map[string]*program, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		p, err := c.expr(texts[name], known)
		if err != nil {
			return nil, fmt.Errorf("let %s: %w", name, err)
		}
		out[name] = p
	}
	return out, nil
}

// template is text with expressions in ${ }. One that is a single expression gives that expression's own value.
type template struct {
	parts []part
}

// part is an expression, or a constant where it has none.
type part struct {
	constant ref.Val
	expr     *program
}

func (c *compiler) template(text string, known *names) (*template, error) {
	t := &template{}
	for text != "" {
		start := strings.Index(text, "${")
		if start < 0 {
			t.parts = append(t.parts, part{constant: types.String(text)})
			break
		}
		if start > 0 {
			t.parts = append(t.parts, part{constant: types.String(text[:start])})
		}
		length := exprLength(text[start+2:])
		if length < 0 {
			return nil, fmt.Errorf("%q: ${ has no }", text)
		}
		p, err := c.expr(text[start+2:start+2+length], known)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, part{expr: p})
		text = text[start+3+length:]
	}
	return t, nil
}

// exprLength is how long an expression is that a } ends, not counting those in strings and in maps.
func exprLength(text string) int {
	var quote rune
	depth := 0
	skip := false
	for i, c := range text {
		switch {
		case skip:
			skip = false
		case c == '\\' && quote != 0:
			skip = true
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// values compiles parameters: a text is a template, all else stands for itself.
func (c *compiler) values(given map[string]any, known *names) (map[string]*template, error) {
	out := make(map[string]*template, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, ok := given[name].(string)
		if !ok {
			out[name] = &template{parts: []part{{constant: types.DefaultTypeAdapter.NativeToValue(given[name])}}}
			continue
		}
		t, err := c.template(text, known)
		if err != nil {
			return nil, fmt.Errorf("with %s: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}
