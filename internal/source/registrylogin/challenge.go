package registrylogin

import (
	"net/http"
	"strings"
)

// Bounds of what a registry asks for.
const (
	maxChallenge  = 8 << 10 // bytes of all challenges together
	maxChallenges = 10
	maxParameters = 20 // of one challenge
)

// challenge is one way to sign in that a registry offers.
type challenge struct {
	scheme     string // in lower case
	parameters map[string]string
}

// challengesOf reads the WWW-Authenticate headers of an answer. What cannot be read is left out.
func challengesOf(header http.Header) []challenge {
	text := strings.Join(header.Values("WWW-Authenticate"), ", ")
	s := scan{rest: text[:min(len(text), maxChallenge)]}
	var out []challenge
	for len(out) <= maxChallenges {
		s.skip()
		if s.rest == "" {
			return out
		}
		name := s.token()
		if name == "" {
			s.rest = s.rest[1:] // a sign that has no place here
			continue
		}
		if value, ok := s.value(); !ok {
			out = append(out, challenge{scheme: strings.ToLower(name), parameters: map[string]string{}})
		} else if n := len(out); n > 0 && len(out[n-1].parameters) < maxParameters {
			if _, twice := out[n-1].parameters[strings.ToLower(name)]; !twice {
				out[n-1].parameters[strings.ToLower(name)] = value
			}
		}
	}
	return out[:maxChallenges]
}

// scan goes over a header once.
type scan struct{ rest string }

// skip goes past what separates challenges and parameters.
func (s *scan) skip() { s.rest = strings.TrimLeft(s.rest, " \t,") }

// token reads a word.
func (s *scan) token() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	return word
}

// value reads what follows an equals sign, if one follows.
func (s *scan) value() (string, bool) {
	after, ok := strings.CutPrefix(strings.TrimLeft(s.rest, " \t"), "=")
	if !ok {
		return "", false
	}
	s.rest = strings.TrimLeft(after, " \t")
	quoted, ok := strings.CutPrefix(s.rest, `"`)
	if !ok {
		return s.token(), true
	}
	var b strings.Builder
	for i := 0; i < len(quoted); i++ {
		switch quoted[i] {
		case '"':
			s.rest = quoted[i+1:]
			return b.String(), true
		case '\\':
			if i++; i < len(quoted) {
				b.WriteByte(quoted[i])
			}
		default:
			b.WriteByte(quoted[i])
		}
	}
	s.rest = ""
	return b.String(), true
}
