package diff

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

const maxGlob = 256 // bytes of a pattern for groups or kinds

// glob is a pattern for the name of a group or kind: * is any text, ? any character, [ab] and [!a-z] are classes, {a,b}
// are alternatives and \ takes the special meaning from what follows.
type glob struct {
	text string // matches this alone, unless
	re   *regexp.Regexp
}

func (g glob) match(name string) bool {
	if g.re == nil {
		return g.text == name
	}
	return g.re.MatchString(name)
}

// compileGlob makes a regular expression of a pattern, so that matching takes time linear in the name.
func compileGlob(pattern string) (glob, error) {
	if len(pattern) > maxGlob {
		return glob{}, fmt.Errorf("has %d bytes; at most %d are allowed", len(pattern), maxGlob)
	}
	if !strings.ContainsAny(pattern, `*?[]{}\`) {
		return glob{text: pattern}, nil
	}
	var out strings.Builder
	out.WriteString(`(?s)\A(?:`)
	open := 0
	for rest := []rune(pattern); len(rest) > 0; {
		r := rest[0]
		rest = rest[1:]
		switch {
		case r == '*':
			out.WriteString(`.*`)
		case r == '?':
			out.WriteString(`.`)
		case r == '{':
			open++
			out.WriteString(`(?:`)
		case r == '}' && open > 0:
			open--
			out.WriteString(`)`)
		case r == ',' && open > 0:
			out.WriteString(`|`)
		case r == '[':
			class, n := globClass(rest)
			if n == 0 {
				return glob{}, fmt.Errorf("%q is not a pattern: a [ has no ]", pattern)
			}
			out.WriteString(class)
			rest = rest[n:]
		case r == '\\' && len(rest) > 0:
			out.WriteString(regexp.QuoteMeta(string(rest[0])))
			rest = rest[1:]
		default:
			out.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if open > 0 {
		return glob{}, fmt.Errorf("%q is not a pattern: a { has no }", pattern)
	}
	re, err := regexp.Compile(out.String() + `)\z`)
	if err != nil {
		return glob{}, errors.New(legible.Cut(pattern, 80) + " is not a pattern: a class is empty or its range runs backwards")
	}
	return glob{re: re}, nil
}

// globClass makes a class of what follows a "[", and says how much of it that is; 0 where it does not end.
func globClass(rest []rune) (class string, n int) {
	var out strings.Builder
	out.WriteString("[")
	for i, r := range rest {
		switch {
		case i == 0 && (r == '!' || r == '^'):
			out.WriteString("^")
		case r == ']':
			return out.String() + "]", i + 1
		case r == '-':
			out.WriteRune(r)
		default:
			out.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return "", 0
}
