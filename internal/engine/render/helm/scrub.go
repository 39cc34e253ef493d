package helm

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// maxMessage bounds an error text; Helm's chains repeat themselves.
const maxMessage = 1500

// scrubber keeps values out of error texts: those that are secret by the name of their key, and those that are long or
// have several lines. Others stay, since "unknown type foo" without foo does not help. How a secret is looked for depends on
// what it looks like (see redact.Known): a word such as prometheus is in the paths of templates, too.
type scrubber struct {
	secrets []string
	content []string
}

const (
	longValue = 48 // longer texts are content, not settings
	minLine   = 24 // shorter first lines of content can be in any message
	maxDepth  = 64
)

// group matches keys of maps whose values are private, unless their own names mean something else.
var group = regexp.MustCompile(`(?i)(pass(word|phrase|wd)?s?|secrets?|tokens?|credentials?|auth|private|api[-_]?keys?|access[-_]?keys?|key|cert|dsn|connection)$`)

// plain matches keys that hold no secret, wherever they are.
var plain = regexp.MustCompile(`(?i)^(enabled|create|type|kind|name|namespace|host|hostname|port|path|class|image|registry|repository|tag|version|mode|method|provider|driver|database|db|schema|existing\w*|\w*(name|namespace|host|port|path|class|ref|type))$`)

func (s *scrubber) addValues(vals map[string]any) { s.walk(nil, vals, 0) }

func (s *scrubber) walk(keys []string, v any, depth int) {
	if depth > maxDepth {
		return
	}
	switch x := v.(type) {
	case string:
		s.add(keys, x)
	case map[string]any:
		for k, e := range x {
			s.walk(append(keys[:len(keys):len(keys)], k), e, depth+1)
		}
	case []any:
		for _, e := range x {
			s.walk(keys, e, depth+1)
		}
	}
}

// add takes one value with the keys that lead to it.
func (s *scrubber) add(keys []string, value string) {
	switch {
	case secret(keys):
		s.secrets = append(s.secrets, value)
	case len(value) >= longValue || strings.Contains(value, "\n"):
		s.content = append(s.content, value)
	}
}

// secret says whether keys lead to a secret. The name of a map counts for what is in it: auth.admin is as secret as auth.
func secret(keys []string) bool {
	for i, key := range slices.Backward(keys) {
		last := i == len(keys)-1
		switch {
		case redact.SecretKey(key) && last:
			return true
		case last && plain.MatchString(key):
			return false
		case redact.SecretKey(key), group.MatchString(key):
			return true
		}
	}
	return false
}

// longQuote matches a quoted text that tpl's errors repeat whole.
var longQuote = regexp.MustCompile(`"(?:[^"\\]|\\.){81,}"`)

// err returns err with a clean and bounded text. An error with nothing to hide is returned as it is, so that its
// chain stays; of the others, what callers test for is kept.
func (s *scrubber) err(err error) error {
	text := err.Error()
	clean := longQuote.ReplaceAllString(text, `"..."`)
	clean = redact.Addresses(redact.NewKnown(s.secrets...).Text(clean))
	slices.SortFunc(s.content, func(a, b string) int { return len(b) - len(a) })
	for _, v := range s.content {
		clean = strings.ReplaceAll(clean, v, "...")
		// A value can appear as %q prints it.
		if first, _, several := strings.Cut(strings.TrimSpace(v), "\n"); several && len(first) >= minLine {
			clean = strings.ReplaceAll(clean, strings.TrimSpace(first), "...")
		}
	}
	clean = legible.Cut(fold(clean), maxMessage)
	if clean == text {
		return err
	}
	if errors.Is(err, document.ErrLimit) {
		return &scrubbed{text: clean, is: document.ErrLimit}
	}
	return errors.New(clean)
}

// fold shows each frame of a chain of templates once: one that includes itself is hundreds of frames deep.
func fold(text string) string {
	const call = " error calling "
	frames := strings.Split(text, call)
	seen := make(map[string]bool, len(frames))
	kept := frames[:0]
	for _, f := range frames {
		if !seen[f] {
			seen[f] = true
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, call)
}

// scrubbed is an error whose text was cleaned and whose kind was kept.
type scrubbed struct {
	text string
	is   error
}

func (e *scrubbed) Error() string { return e.text }
func (e *scrubbed) Unwrap() error { return e.is }
