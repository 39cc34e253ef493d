package legible

import "net/url"

// Link reports whether a browser may be sent to an address that a person or a cluster chose: a page (https, http) or a
// mail (mailto), without credentials and without characters that make it look like another one.
func Link(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || Word(s) != nil {
		return false
	}
	switch u.Scheme {
	case "https", "http":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}
