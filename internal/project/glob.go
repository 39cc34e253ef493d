package project

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Bounds of one project. A user who may write projects may be less trusted than the operator of the agent, so a project must not
// be able to use up its memory or time: matching takes at most maxRegexBytes * maxValue steps.
const (
	maxPattern    = 1024     // bytes of one pattern
	maxPatterns   = 10_000   // of one project
	maxRegexBytes = 32 << 10 // of all patterns of a project that are more than a name or a prefix
	maxDepth      = 16       // of alternatives inside alternatives
	maxValue      = 1024     // bytes of what is matched
)

// glob is a compiled pattern: * and ? stand for any text and character, ** is like *, [a-c] and [!a-c] are classes,
// {a,b} are alternatives and \ takes the special meaning from what follows. Where "/" separates, * and ? stop at it and
// ** does not. The zero value matches the empty string.
type glob struct {
	text   string // of a name or prefix
	all    bool   // matches everything
	prefix bool   // text is the beginning
	within bool   // what follows the prefix has no "/"
	re     *regexp.Regexp
}

// match reports whether the whole of s is what the pattern describes. Its time is linear in the length of s.
func (g glob) match(s string) bool {
	switch {
	case g.all:
		return true
	case len(s) > maxValue:
		return false // callers refuse such values before they ask
	case g.re != nil:
		return g.re.MatchString(s)
	case g.prefix:
		rest, ok := strings.CutPrefix(s, g.text)
		return ok && !(g.within && strings.Contains(rest, "/"))
	}
	return g.text == s
}

// exact reports whether the pattern is a plain name.
func (g glob) exact() bool { return !g.all && !g.prefix && g.re == nil }

// budget is what the patterns of one project may still use, and the zones that its windows share.
type budget struct {
	patterns, bytes int
	zones           map[string]*time.Location
}

func newBudget() *budget {
	return &budget{patterns: maxPatterns, bytes: maxRegexBytes, zones: map[string]*time.Location{}}
}

// compile reads a pattern; separated says that "/" separates.
func (b *budget) compile(pattern string, separated bool) (glob, error) {
	if b.patterns--; b.patterns < 0 {
		return glob{}, fmt.Errorf("more than %d patterns: join them with {a,b} or *", maxPatterns)
	}
	if len(pattern) > maxPattern {
		return glob{}, fmt.Errorf("pattern %.40q... is longer than %d bytes: shorten it", pattern, maxPattern)
	}
	special := strings.IndexAny(pattern, `*?[]{}\`)
	switch {
	case special < 0:
		return glob{text: pattern}, nil
	case pattern == "*" || pattern == "**":
		return glob{all: true}, nil
	case pattern[special:] == "*" || pattern[special:] == "**":
		return glob{text: pattern[:special], prefix: true, within: separated && pattern[special:] == "*"}, nil
	}
	if b.bytes -= len(pattern); b.bytes < 0 {
		return glob{}, fmt.Errorf("patterns with * inside, ?, [] or {} take more than %d bytes: use plain names and prefixes", maxRegexBytes)
	}
	text, err := translate(pattern, separated)
	if err != nil {
		return glob{}, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return glob{}, fmt.Errorf("pattern %q cannot be read: correct its [] and {}", pattern)
	}
	return glob{re: re}, nil
}

// translate writes a pattern as a regular expression, of the kind that is matched without going back.
func translate(pattern string, separated bool) (string, error) {
	anything, one := ".*", "."
	if separated {
		anything, one = "[^/]*", "[^/]"
	}
	var out strings.Builder
	out.WriteString(`(?s)\A`)
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' && strings.HasPrefix(pattern[i:], "**"):
			for i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
			}
			out.WriteString(".*")
		case c == '*':
			out.WriteString(anything)
		case c == '?':
			out.WriteString(one)
		case c == '\\':
			if i++; i == len(pattern) {
				return "", errors.New(`it ends with \: add the character that is meant`)
			}
			out.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '[':
			n, err := class(&out, pattern[i:], separated)
			if err != nil {
				return "", err
			}
			i += n
		case c == '{':
			if depth++; depth > maxDepth {
				return "", fmt.Errorf("alternatives are nested more than %d deep: write them side by side", maxDepth)
			}
			out.WriteString("(?:")
		case c == '}' && depth > 0:
			depth--
			out.WriteString(")")
		case c == ',' && depth > 0:
			out.WriteString("|")
		case c < 0x80:
			out.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			out.WriteByte(c)
		}
	}
	if depth > 0 {
		return "", errors.New("{ is not closed: add }")
	}
	out.WriteString(`\z`)
	return out.String(), nil
}

// class translates the [...] that s begins with and returns the position of its end.
func class(out *strings.Builder, s string, separated bool) (int, error) {
	end := strings.IndexByte(s[1:], ']') + 1
	body := s[1:max(end, 1)]
	inverted := strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^")
	if inverted {
		body = body[1:]
	}
	if end == 0 || body == "" || strings.ContainsAny(body, `[\`) {
		return 0, errors.New(`a class must be written as [abc], [a-c] or [!a-c], without [ and \ in it`)
	}
	out.WriteString("[")
	if inverted {
		out.WriteString("^")
		if separated {
			out.WriteString("/")
		}
	}
	for _, r := range body {
		if r != '-' && strings.ContainsRune(`^&~|:`, r) {
			out.WriteString(`\`)
		}
		out.WriteRune(r)
	}
	out.WriteString("]")
	return end, nil
}
