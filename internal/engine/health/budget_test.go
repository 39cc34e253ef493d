package health

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestARuleThatTakesTooManyStepsIsStopped(t *testing.T) {
	t.Parallel()
	c, err := newCompiler()
	if err != nil {
		t.Fatal(err)
	}
	items := make([]any, 2*maxItems)
	for i := range items {
		items[i] = map[string]any{"n": strings.Repeat("x", 10)}
	}
	obj := map[string]any{"spec": map[string]any{"items": items[:maxItems]}}
	for _, text := range []string{
		`spec.items.all(a, spec.items.all(b, spec.items.all(c, a == b || b == c || a != c)))`,
		`spec.items.map(a, spec.items.map(b, a)).size() > 0`,
		`spec.items.exists(a, spec.items.filter(b, a != b && b != a).size() > 1000000)`,
	} {
		p, err := c.expr(text, &names{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		began := time.Now()
		if _, err := p.eval(&scope{subject: &subject{obj: obj}}); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", text, err)
		}
		t.Logf("%s: %s", text, time.Since(began))
	}
	for what, text := range map[string]string{
		"deep": strings.Repeat("(", 2*maxExprDepth) + "true" + strings.Repeat(")", 2*maxExprDepth),
		"long": "name == \"" + strings.Repeat("x", maxExprSize) + "\"",
	} {
		if _, err := c.expr(text, &names{}); err == nil {
			t.Errorf("an expression that is too %s is taken", what)
		}
	}
}
