package action

import (
	"fmt"
	"strings"
	"testing"
)

func TestARuleOfAnActionThatTakesTooManyStepsIsStopped(t *testing.T) {
	t.Parallel()
	items := make([]any, 1000)
	for i := range items {
		items[i] = fmt.Sprint(i)
	}
	for _, text := range []string{
		`spec.items.all(a, spec.items.all(b, spec.items.all(c, a + b + c != "")))`,
		`spec.items.map(a, spec.items.map(b, spec.items.map(c, a + b + c))).size() > 0`,
	} {
		kinds, err := readRules([]byte("kinds:\n- for: [apps/Deployment]\n  actions:\n  - name: x\n    offered: " + text + "\n    do:\n    - fail: no\n"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, k := range kinds {
			_, err := k.rules[0].offered.eval(scope{"spec": map[string]any{"items": items}})
			if err == nil || !strings.Contains(err.Error(), "cost limit exceeded") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
