package deeplink

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/template"
	"text/template/parse"
)

// Limits of a template in bytes: its own length, and that of every text in it. A template cannot go over anything, so it takes as
// many steps as it is long.
const (
	maxTemplate = 4 << 10
	maxText     = 4 << 10
)

var errTooLong = fmt.Errorf("a text in it is longer than %d bytes", maxText)

// fill makes an address of a template.
func fill(text string, objects Objects) (string, error) {
	if len(text) > maxTemplate {
		return "", fmt.Errorf("its url has %d bytes, more than %d: shorten it", len(text), maxTemplate)
	}
	t, err := template.New("url").Funcs(functions()).Parse(text)
	if err != nil {
		return "", err
	}
	if len(t.Templates()) > 1 {
		return "", errors.New("it defines another template, which links do not have")
	}
	if t.Tree == nil {
		return "", nil
	}
	if err := harmless(t.Root); err != nil {
		return "", err
	}
	var out bounded
	if err := t.Execute(&out, objects.named()); err != nil {
		return "", err
	}
	address := strings.TrimSpace(out.String())
	if strings.Contains(address, "<no value>") {
		return "", errors.New("it names a field that is not there: give it a default, or a condition")
	}
	return address, nil
}

// harmless refuses what could take long.
func harmless(node parse.Node) error {
	var below []parse.Node
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			below = n.Nodes
		}
	case *parse.IfNode:
		below = []parse.Node{n.List, n.ElseList}
	case *parse.WithNode:
		below = []parse.Node{n.List, n.ElseList}
	case *parse.RangeNode:
		return errors.New("it has a range, which links do not have")
	case *parse.TemplateNode:
		return errors.New("it calls a template, which links do not have")
	}
	for _, each := range below {
		if err := harmless(each); err != nil {
			return err
		}
	}
	return nil
}

// bounded takes so much and no more.
type bounded struct{ strings.Builder }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxText {
		return 0, errTooLong
	}
	return b.Builder.Write(p)
}

// functions are those of templates, named as in Argo CD, with the arguments in the same order. They replace those of the package
// that can make much of little.
func functions() template.FuncMap {
	missing := func(...any) (string, error) { return "", errors.New("there is no such function in links") }
	all := template.FuncMap{
		"lower": one(strings.ToLower), "upper": one(strings.ToUpper), "trim": one(strings.TrimSpace),
		"toString": one(func(s string) string { return s }),
		"urlquery": one(url.QueryEscape), "urlpath": one(url.PathEscape),
		"b64enc":     one(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"sha256sum":  one(func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }),
		"trimPrefix": two(func(prefix, s string) string { return strings.TrimPrefix(s, prefix) }),
		"trimSuffix": two(func(suffix, s string) string { return strings.TrimSuffix(s, suffix) }),
		"trimAll":    two(func(set, s string) string { return strings.Trim(s, set) }),
		"contains":   asks(func(part, s string) bool { return strings.Contains(s, part) }),
		"hasPrefix":  asks(func(prefix, s string) bool { return strings.HasPrefix(s, prefix) }),
		"hasSuffix":  asks(func(suffix, s string) bool { return strings.HasSuffix(s, suffix) }),
		"replace":    replace, "trunc": trunc, "splitList": splitList, "join": join,
		"default": func(standard, v any) any { return coalesce(v, standard) },
		"empty":   empty, "coalesce": coalesce,
		"ternary": func(yes, no any, holds bool) any {
			if holds {
				return yes
			}
			return no
		},
	}
	for _, name := range []string{"print", "printf", "println", "html", "js", "call"} {
		all[name] = missing
	}
	return all
}

// text is a value of an object as text; nothing is an empty one.
func text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		if len(v) > maxText {
			return "", errTooLong
		}
		return v, nil
	case bool, int, int64, float64:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("a %T is no text", v)
}

func short(s string) (string, error) {
	if len(s) > maxText {
		return "", errTooLong
	}
	return s, nil
}

func one(make func(string) string) func(any) (string, error) {
	return func(v any) (string, error) {
		s, err := text(v)
		if err != nil {
			return "", err
		}
		return short(make(s))
	}
}

func two(make func(a, b string) string) func(a, b any) (string, error) {
	return func(a, b any) (string, error) {
		s, err := text(a)
		if err != nil {
			return "", err
		}
		return one(func(t string) string { return make(s, t) })(b)
	}
}

func asks(ask func(a, b string) bool) func(a, b any) (bool, error) {
	return func(a, b any) (holds bool, err error) {
		_, err = two(func(s, t string) string { holds = ask(s, t); return "" })(a, b)
		return holds, err
	}
}

func replace(old, by, in any) (string, error) {
	s, err := text(by)
	if err != nil {
		return "", err
	}
	o, err := text(old)
	if err != nil {
		return "", err
	}
	t, err := text(in)
	if err != nil {
		return "", err
	}
	if len(t)+strings.Count(t, o)*(len(s)-len(o)) > maxText { // before it is made
		return "", errTooLong
	}
	return strings.ReplaceAll(t, o, s), nil
}

// trunc is the first n bytes of a text, or with a negative n the last ones.
func trunc(n int, v any) (string, error) {
	return one(func(s string) string {
		switch {
		case n >= 0 && n < len(s):
			return s[:n]
		case n < 0 && -n > 0 && -n < len(s):
			return s[len(s)+n:]
		}
		return s
	})(v)
}

func splitList(sep, v any) (parts []string, err error) {
	_, err = two(func(s, t string) string { parts = strings.Split(t, s); return "" })(sep, v)
	return parts, err
}

func join(sep any, list any) (string, error) {
	by, err := text(sep)
	if err != nil {
		return "", err
	}
	var parts []string
	length := 0
	switch list := list.(type) {
	case []string:
		parts = list
	case []any:
		for _, v := range list {
			s, err := text(v)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
			if len(parts) > maxText {
				return "", errTooLong
			}
		}
	case nil:
	default:
		return "", fmt.Errorf("a %T is no list", list)
	}
	for _, part := range parts {
		if length += len(part) + len(by); length > maxText+len(by) { // before it is made
			return "", errTooLong
		}
	}
	return strings.Join(parts, by), nil
}

func empty(v any) bool {
	truth, ok := template.IsTrue(v)
	return !ok || !truth
}

func coalesce(all ...any) any {
	for _, v := range all {
		if !empty(v) {
			return v
		}
	}
	return nil
}
