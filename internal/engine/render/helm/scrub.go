package helm

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
)

// maxMessage bounds an error text; Helm's chains repeat themselves.
const maxMessage = 1500

// scrubber keeps values out of error texts: those that look secret by the name of their key, and those that are long
// or have several lines. Short plain ones stay, since "unknown type foo" without foo helps nobody.
type scrubber struct {
	secrets []string
}

const (
	minSecret = 4  // shorter texts are in every message
	longValue = 48 // longer texts are content, not settings
	maxDepth  = 64
)

// secretKey matches keys whose values are nobody's business.
var secretKey = regexp.MustCompile(`(?i)(pass(word|phrase|wd)?|secret|token|credential|auth|private|api[-_]?key|access[-_]?key|\bkey|cert|dsn|connection)`)

// longQuote matches a quoted text that tpl's errors repeat whole.
var longQuote = regexp.MustCompile(`"(?:[^"\\]|\\.){81,}"`)

func (s *scrubber) addValues(vals map[string]any) { s.walk("", vals, 0) }

func (s *scrubber) walk(key string, v any, depth int) {
	if depth > maxDepth {
		return
	}
	switch x := v.(type) {
	case string:
		s.add(key, x)
	case map[string]any:
		for k, e := range x {
			// The name of a map counts for what is in it: auth.admin is as secret as auth.
			s.walk(key+"."+k, e, depth+1)
		}
	case []any:
		for _, e := range x {
			s.walk(key, e, depth+1)
		}
	}
}

// add takes one value that has the path key.
func (s *scrubber) add(key, value string) {
	if len(value) >= longValue || strings.Contains(value, "\n") || len(value) >= minSecret && secretKey.MatchString(key) {
		s.secrets = append(s.secrets, value)
	}
}

// err returns err with a clean and bounded text. An error with nothing to hide is returned as it is, so that its
// chain stays; of the others, what callers test for is kept.
func (s *scrubber) err(err error) error {
	text := err.Error()
	clean := longQuote.ReplaceAllString(text, `"..."`)
	slices.SortFunc(s.secrets, func(a, b string) int { return len(b) - len(a) })
	for _, v := range s.secrets {
		clean = strings.ReplaceAll(clean, v, "...")
		// A value can appear as %q prints it.
		if first, _, several := strings.Cut(strings.TrimSpace(v), "\n"); several && len(first) >= minSecret {
			clean = strings.ReplaceAll(clean, strings.TrimSpace(first), "...")
		}
	}
	clean = fold(clean)
	if len(clean) > maxMessage {
		clean = strings.ToValidUTF8(clean[:maxMessage], "") + " ..."
	}
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
