package diff

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Text says how Unified writes.
type Text struct {
	From, To string // names of the two documents
	Context  int    // unchanged lines around a change; negative means all
	Color    bool   // with ANSI colours, for terminals
}

// Unified writes the difference of two objects as YAML in the unified format; "" when they are equal. Secrets must have
// been masked before. Either object can be nil.
func Unified(from, to map[string]any, how Text) (string, error) {
	a, err := yamlText(from)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", how.From, err)
	}
	b, err := yamlText(to)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", how.To, err)
	}
	context := how.Context
	if context < 0 {
		context = strings.Count(a, "\n") + strings.Count(b, "\n")
	}
	out, err := udiff.ToUnified(how.From, how.To, a, udiff.Lines(a, b), context)
	if err != nil {
		return "", fmt.Errorf("compare %s with %s: %w", how.From, how.To, err)
	}
	if how.Color {
		out = colored(out)
	}
	return out, nil
}

func yamlText(obj map[string]any) (string, error) {
	if len(obj) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return "", err
	}
	raw, err = object.YAML(raw)
	return string(raw), err
}

// colored gives the lines of a unified diff the colours that git gives them.
func colored(text string) string {
	const plain, bold, red, green, cyan = "\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m"
	const names = 2 // lines of the header
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		color := map[byte]string{'-': red, '+': green, '@': cyan}[line[0]]
		if n < names {
			color = bold
		}
		n++
		if color != "" {
			line = color + strings.TrimSuffix(line, "\n") + plain + "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}
