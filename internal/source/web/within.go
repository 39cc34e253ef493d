package web

import (
	"fmt"
	"net/url"
	"strings"
)

// bounds reads the addresses that an access is for.
func bounds(a Access) ([]*url.URL, error) {
	out := make([]*url.URL, 0, len(a.Within))
	for _, text := range a.Within {
		u, err := ParseAddress(text)
		if err != nil {
			return nil, fmt.Errorf("read what the credential is for: %w", err)
		}
		out = append(out, u)
	}
	return out, nil
}

// Sends reports whether a request for an address gets the credential of the access, unless a redirect led there.
func (c *Client) Sends(at *url.URL) bool { return c.transportTo(at, false) != c.other }

// within reports whether an address of the home is one that the access is for.
func (c *Client) within(at *url.URL) bool {
	if len(c.bounds) == 0 {
		return true
	}
	for _, bound := range c.bounds {
		if sameOrigin(at, bound) && Below(at, bound) {
			return true
		}
	}
	return false
}

// Below reports whether the path of an address is at or under that of another one, however a server reads it: what a server could take
// for a step up or for another separator is below nothing but the root.
func Below(at, prefix *url.URL) bool {
	base := strings.TrimRight(prefix.Path, "/")
	if base == "" {
		return true
	}
	rest, ok := strings.CutPrefix(at.Path, base)
	return ok && (rest == "" || rest[0] == '/') && plain(at)
}

// plain reports whether all servers read a path in the same way.
func plain(at *url.URL) bool {
	if strings.ContainsAny(at.Path, "\\%;") || strings.Contains(strings.ToLower(at.RawPath), "%2f") {
		return false
	}
	for part := range strings.SplitSeq(at.Path, "/") {
		if part == "." || part == ".." {
			return false
		}
	}
	return true
}
