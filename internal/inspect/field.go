package inspect

import (
	"strconv"
	"strings"
)

// Fields of objects may have any type: what has another one than expected is as if it were not there.

func dict(from map[string]any, field string) map[string]any {
	m, _ := from[field].(map[string]any)
	return m
}

func list(from map[string]any, field string) []any {
	l, _ := from[field].([]any)
	return l
}

func text(from map[string]any, field string) string {
	s, _ := from[field].(string)
	return s
}

func number(from map[string]any, field string) (n int64, ok bool) {
	switch v := from[field].(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	}
	return 0, false
}

// integer reads a number; 0 for what is none.
func integer(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// clip bounds a text, in bytes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
