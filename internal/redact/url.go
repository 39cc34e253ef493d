package redact

import (
	"regexp"
	"strings"
)

var (
	address = regexp.MustCompile("[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s\"'<>`]+")
	// port is what may follow a host and is no password.
	port = regexp.MustCompile(`^[^:]*(?::[0-9]{1,5})?$|^\[[0-9a-fA-F:.]+\](?::[0-9]{1,5})?$`)
)

// URLs gives a text whose URLs have no user info, query or fragment. [Text] leaves those that are not secret; this is for
// what goes to people outside. What cannot be told from a password goes too.
func URLs(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	return address.ReplaceAllStringFunc(s, func(found string) string {
		at := strings.Index(found, "://") + len("://")
		scheme, rest := found[:at], found[at:]
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		if i := strings.LastIndexByte(rest[:end], '@'); i >= 0 {
			rest = rest[i+1:]
		} else if i := strings.LastIndexByte(rest, '@'); i >= 0 && !port.MatchString(rest[:end]) {
			rest = rest[i+1:] // a password with a slash, a question mark or a hash in it
		}
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest = rest[:i]
		}
		return scheme + rest
	})
}
