package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths of known secrets, in bytes.
const (
	shortestKnown = 4  // what is shorter is in every message
	shortestSure  = 8  // what is shorter can be a part of a word
	shortestBody  = 10 // what is shorter is not looked for in documents
	longWord      = 16 // letters alone that are so long are no word
	shortestLine  = 24 // of a secret that has several lines
)

// Known are secrets that are known by where they came from. It takes them out of texts, wherever they stand, as far as
// that destroys nothing: a password can be a word that is in many messages and names, such as prometheus. How a value is
// looked for depends on what it looks like:
//
//   - what does not occur by chance, anywhere in a text, also in base64, in an address and as JSON writes it;
//   - what could be a name with a number (web1, hunter2), and what is short, only where it stands alone: not as a part of
//     a longer name or of a path;
//   - a word of letters, only where it is the whole of a quotation.
//
// Nil is no secret at all.
type Known struct {
	sure, body *strings.Replacer
	names      *regexp.Regexp
	words      *regexp.Regexp
}

// NewKnown takes secrets; nil for none that can be looked for.
func NewKnown(values ...string) *Known {
	var sure, body, names, words []string
	seen := map[string]bool{}
	add := func(value string) {
		if len(value) < shortestKnown || seen[value] {
			return
		}
		seen[value] = true
		switch likeness(value) {
		case likeWord:
			words = append(words, value)
		case likeName:
			names = append(names, value)
		case likeNothing:
			forms := spellings(value)
			sure = append(sure, forms...)
			if len(value) >= shortestBody {
				body = append(body, forms...)
			}
		}
	}
	for _, value := range values {
		value = strings.TrimSpace(value)
		add(value)
		if !strings.Contains(value, "\n") {
			continue
		}
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= shortestLine && !strings.HasPrefix(line, "-----") {
				add(line)
			}
		}
	}
	if len(seen) == 0 {
		return nil
	}
	return &Known{
		sure: replacerOf(sure), body: replacerOf(body), names: anyOf(names, `()(%)`), words: anyOf(words, `(["'`+"`"+`])(%)["'`+"`"+`]`),
	}
}

// Text gives a text, such as a message or a line of a log, without the secrets.
func (k *Known) Text(s string) string {
	if k == nil || s == "" {
		return s
	}
	if k.sure != nil {
		s = k.sure.Replace(s)
	}
	s = replaceAlone(s, k.names, func(before, after rune) bool { return !partOfName(before) && !partOfName(after) })
	return replaceAlone(s, k.words, func(rune, rune) bool { return true })
}

// Document gives a document, such as JSON, without the secrets that do not occur by chance. Names in it stay.
func (k *Known) Document(raw []byte) []byte {
	if k == nil || k.body == nil || len(raw) == 0 {
		return raw
	}
	return []byte(k.body.Replace(string(raw)))
}

type likeKind int

const (
	likeNothing likeKind = iota
	likeName
	likeWord
)

var (
	letters = regexp.MustCompile(`^[\pL]+(?:[-_. ][\pL]+)*$`)
	named   = regexp.MustCompile(`^[\pL]*[0-9]{0,4}(?:[-_. /:][\pL]*[0-9]{0,4})*$`)
)

// likeness says what a value could be beside a secret.
func likeness(value string) likeKind {
	oneCase := value == strings.ToLower(value) || value == strings.ToUpper(value) || value[1:] == strings.ToLower(value[1:])
	switch {
	case letters.MatchString(value) && oneCase && len(value) < longWord:
		return likeWord
	case named.MatchString(value) && oneCase && len(value) < longWord, len(value) < shortestSure:
		return likeName
	}
	return likeNothing
}

// spellings are the ways to write a secret.
func spellings(value string) []string {
	raw := []byte(value)
	out := []string{
		value, url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString(raw),
		base64.RawStdEncoding.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw),
	}
	if quoted, err := json.Marshal(value); err == nil {
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	return out
}

func replacerOf(values []string) *strings.Replacer {
	if len(values) == 0 {
		return nil
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, v := range slices.Compact(values) {
		pairs = append(pairs, v, hidden)
	}
	return strings.NewReplacer(pairs...)
}

// anyOf matches one of some values, in a pattern that has % in their place.
func anyOf(values []string, pattern string) *regexp.Regexp {
	if len(values) == 0 {
		return nil
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for i := range values {
		values[i] = regexp.QuoteMeta(values[i])
	}
	before, after, _ := strings.Cut(pattern, "%")
	return regexp.MustCompile(before + strings.Join(values, "|") + after)
}

// partOfName reports whether a character next to a value makes it a part of a longer name, or of a path.
func partOfName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./\\", r)
}

// replaceAlone replaces the second group of what matches, where its neighbours allow it.
func replaceAlone(s string, re *regexp.Regexp, alone func(before, after rune) bool) string {
	if re == nil {
		return s
	}
	var out strings.Builder
	kept := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
		before, _ := utf8.DecodeLastRuneInString(s[:m[4]])
		after, size := utf8.DecodeRuneInString(s[m[5]:])
		if after == '.' { // the end of a sentence is no part of a name
			if next, _ := utf8.DecodeRuneInString(s[m[5]+size:]); !partOfName(next) {
				after = ' '
			}
		}
		if alone(before, after) {
			out.WriteString(s[kept:m[4]] + hidden)
			kept = m[5]
		}
	}
	return out.String() + s[kept:]
}
