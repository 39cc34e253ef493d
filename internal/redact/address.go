package redact

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Addresses gives a text whose addresses hold no password and no token: neither as user information nor as a parameter. The name
// of a login of SSH stays, since it is part of the address. What cannot be distinguished from a password is removed too. A text
// without secrets comes back as it is.
func Addresses(s string) string { return cleaner{}.text(s) }

// JSONAddresses does so for every text in a JSON document, which stays a document of the same form.
func JSONAddresses(raw []byte) []byte { return cleaner{}.json(raw) }

// URLs gives a text whose addresses have no user information, no query and no fragment at all. [Addresses] leaves those that
// are not secret; this is for what goes to people outside.
func URLs(s string) string { return cleaner{strict: true}.text(s) }

// HasUser reports whether a text holds an address with a password or a token in it.
func HasUser(s string) bool { return Addresses(s) != s }

// cleaner is the only reader of addresses that takes secrets out of them.
type cleaner struct {
	strict bool // no user at all, no query, no fragment
}

var (
	// schemeEnd separates a scheme, also as some writers of JSON put it.
	schemeEnd = regexp.MustCompile(`:(?:\\?/){2}`)
	// bare is user and password without a scheme: of a proxy, or of a host of SSH. A digest or a mail address is none.
	bare = regexp.MustCompile(`(^|[\s"'=(\[,;])([\pL\pN._~%+-]+:[^\s"'@/]+)@((?:[\pL\pN-]+\.)+\pL[\pL\pN-]*|localhost|\[[0-9a-fA-F:.]+\])([:/])`)
	// hostAhead is what can belong to a host.
	hostAhead = regexp.MustCompile(`^[\pL\pN._:\[\]%-]*`)
	// another is the beginning of the next address, in a list.
	another = regexp.MustCompile(`[,;|(){}][a-zA-Z][a-zA-Z0-9+.-]*:(?:\\?/){2}`)
	// closes is a quote that ends a text, also one in JSON, with what follows it.
	closes = regexp.MustCompile("^(?:[\"'`][,:;.)}\\]]*(?:\\s|$)|\"\\\\?[}\\]]*[,:]\\\\?[\"{\\[]|\"[}\\]]+\\\\?\"|\":(?:[0-9-]|true|false|null))")
	// encoded is user information of an address that is a parameter of another one.
	encoded = regexp.MustCompile(`(?i)(%3A%2F%2F)((?:[^\s"'<>&%]|%[0-9a-f]{2})*?)%40`)
	// hostLike is what can be a host and a port, and so is no password.
	hostLike = regexp.MustCompile(`^(?:[\pL\pN._~-]*|\[[0-9a-fA-F:.%]+\])(?::([0-9]{1,5}))?$`)
	// placeholder is what a text says in place of a host.
	placeholder = regexp.MustCompile(`(?i)[:\[]port\]?$|^[{$%<]`)
	// fullHost is a host beyond doubt.
	fullHost = regexp.MustCompile(`(?i)^(?:(?:[\pL\pN_-]+\.)+\pL[\pL\pN-]*\.?|localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-f:.%]+\])(?::[0-9]{1,5})?$`)
)

// login reports whether a user of a scheme without a password is the name of a login.
func login(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "ssh", "git+ssh", "ssh+git":
		return true
	}
	return false
}

func (c cleaner) text(s string) string {
	if strings.Contains(s, ":") {
		s = c.addresses(s)
		if strings.Contains(s, "@") {
			s = bare.ReplaceAllString(s, "$1$3$4")
		}
	}
	if strings.Contains(s, "%40") {
		s = encoded.ReplaceAllString(s, "$1")
	}
	return s
}

// addresses cleans those with a scheme.
func (c cleaner) addresses(s string) string {
	at := schemeEnd.FindStringIndex(s)
	if at == nil {
		return s
	}
	var out strings.Builder
	for at != nil {
		out.WriteString(s[:at[1]])
		scheme := schemeBefore(s[:at[0]])
		s = s[at[1]:]
		user := c.user(s, scheme)
		if user == broken {
			// It has a password, and its end is unknown.
			out.WriteString(hidden)
			s = s[farEnd(s):]
		} else {
			s = s[user:]
		}
		end := endOf(s)
		if next := schemeEnd.FindStringIndex(s[:end]); next != nil {
			end = next[0] // the next address begins here
		}
		out.WriteString(c.parameters(s[:end]))
		s = s[end:]
		at = schemeEnd.FindStringIndex(s)
	}
	return out.String() + s
}

// schemeBefore returns the letters of a scheme at the end of a text.
func schemeBefore(s string) string {
	return s[strings.LastIndexFunc(s, func(r rune) bool {
		return !(r == '+' || r == '-' || r == '.' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)))
	})+1:]
}

// endOf is where an address ends in a text.
func endOf(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"'<>`\\", r)
	}); i >= 0 {
		return i
	}
	return len(s)
}

// farEnd is where one ends at the latest that has a quote or a backslash in its password: at a space, or at a quote that
// closes something.
func farEnd(s string) int {
	for i, r := range s {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r), r == '<', r == '>':
			return i
		case strings.ContainsRune("\"'`", r) && closes.MatchString(s[i:]):
			return i
		}
	}
	return len(s)
}

// broken stands for user information without an end.
const broken = -1

// shape is what the first part of an address can be.
type shape int

const (
	noHost   shape = iota // a user, and the password has in it what ends a host
	someHost              // a host, or a user or the beginning of a password
	sureHost              // a host
)

func shapeOf(authority string) shape {
	const after = ".,;:!?)}|"
	trimmed := strings.TrimRight(authority, after)
	if strings.Contains(trimmed, "[") == strings.Contains(trimmed, "]") && !strings.HasPrefix(trimmed, "[") {
		trimmed = strings.TrimRight(trimmed, after+"]")
	}
	port := hostLike.FindStringSubmatch(trimmed)
	switch {
	case placeholder.MatchString(trimmed):
		return sureHost
	case port == nil:
		return noHost
	case port[1] == "" && fullHost.MatchString(trimmed):
		return sureHost
	}
	return someHost
}

// user says how many bytes of s, which is behind a scheme, are user information that must go.
func (c cleaner) user(s, scheme string) int {
	token := s[:endOf(s)]
	if next := another.FindStringIndex(token); next != nil {
		token = token[:next[0]]
	}
	authority := hostOf(token)
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if !c.strict && login(scheme) && !strings.Contains(authority[:i], ":") {
			return 0
		}
		return max(i+1, userBefore(s)) // an @ in the password, and then a slash
	}
	switch shapeOf(authority) {
	case sureHost:
		if !strings.Contains(authority, ":") {
			return 0
		}
		return userBefore(s) // a password that begins with a sign
	case someHost:
		return userBefore(s)
	}
	if i := strings.LastIndexByte(s[:farEnd(s)], '@'); i >= 0 {
		return i + 1
	}
	if !strings.Contains(authority, ":") {
		return 0
	}
	if i := nextWordAt(s); i >= 0 {
		return i + 1
	}
	return broken
}

// userBefore is where user information ends if a host beyond doubt is behind the last @ of an address; 0 where there is none.
func userBefore(s string) int {
	token := s[:farEnd(s)]
	if next := another.FindStringIndex(token); next != nil {
		token = token[:next[0]]
	}
	i := strings.LastIndexByte(token, '@')
	if i < 0 || !fullHost.MatchString(strings.TrimRight(hostAhead.FindString(token[i+1:]), ".:]")) &&
		!fullHost.MatchString(hostAhead.FindString(token[i+1:])) {
		return 0
	}
	return i + 1
}

// nextWordAt finds the end of a password that has one space in it; -1 for none.
func nextWordAt(s string) int {
	first := endOf(s)
	rest := strings.TrimLeftFunc(s[first:], unicode.IsSpace)
	skipped := len(s) - len(rest)
	if skipped == first || rest == "" {
		return -1
	}
	word := rest[:endOf(rest)]
	if i := strings.IndexByte(word, '@'); i >= 0 && (fullHost.MatchString(hostOf(word[i+1:])) || strings.ContainsAny(word[i+1:], "/:")) {
		return skipped + i
	}
	return -1
}

func hostOf(s string) string {
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return s[:i]
	}
	return s
}

// parameters hides the values of parameters whose names say that they are secret. url begins with the host.
func (c cleaner) parameters(url string) string {
	q := strings.IndexAny(url, "?#")
	if q < 0 {
		return url
	}
	if c.strict {
		return url[:q]
	}
	parts := strings.FieldsFunc(url[q:], func(r rune) bool { return strings.ContainsRune("?#&;", r) })
	if !slices.ContainsFunc(parts, secretParameter) {
		return url
	}
	var out strings.Builder
	out.WriteString(url[:q])
	for rest := url[q:]; rest != ""; {
		out.WriteByte(rest[0])
		end := strings.IndexAny(rest[1:], "?#&;") + 1
		if end == 0 {
			end = len(rest)
		}
		part := rest[1:end]
		if secretParameter(part) {
			name, _, _ := strings.Cut(part, "=")
			part = name + "=" + hidden
		}
		out.WriteString(part)
		rest = rest[end:]
	}
	return out.String()
}

// secretParameter says whether NAME=VALUE of a query holds a secret.
func secretParameter(part string) bool {
	name, value, _ := strings.Cut(part, "=")
	if value == "" || value == hidden {
		return false
	}
	name = strings.ToLower(name)
	return secretParameters.MatchString(name) || SecretKey(name)
}

var secretParameters = regexp.MustCompile(`token|passw|secret|signature|api[_-]?key|credential|^(?:sig|key|auth|code|pwd|pass)$`)

// json cleans the texts of a document in place of one another: what is no text stays as it is, byte by byte.
func (c cleaner) json(raw []byte) []byte {
	var out []byte
	kept := 0
	for at := bytes.IndexByte(raw, '"'); at >= 0 && at < len(raw); {
		end := literalEnd(raw, at)
		if literal := raw[at:end]; bytes.ContainsAny(literal, ":%") {
			if clean, changed := c.literal(literal); changed {
				out = append(append(out, raw[kept:at]...), clean...)
				kept = end
			}
		}
		next := bytes.IndexByte(raw[end:], '"')
		if next < 0 {
			break
		}
		at = end + next
	}
	if kept == 0 {
		return raw
	}
	return append(out, raw[kept:]...)
}

// literalEnd is the end of the text in JSON that begins at a quote.
func literalEnd(raw []byte, at int) int {
	for i := at + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func (c cleaner) literal(literal []byte) ([]byte, bool) {
	var s string
	if json.Unmarshal(literal, &s) != nil {
		return nil, false
	}
	clean := c.text(s)
	if clean == s {
		return nil, false
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(clean) != nil {
		return nil, false
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), true
}
