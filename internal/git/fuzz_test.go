package git

import (
	"bufio"
	"strings"
	"testing"
)

// An address that is taken is a place on the network without credentials, which is read the same again.
func FuzzRemote(f *testing.F) {
	for _, raw := range []string{"https://git.example/a.git", "git@git.example:a/b", "https://u:p@h:443/a?b#c", "ssh://-oProxyCommand=x/a", "ext::sh -c x", "-u", "https://h/%2e%2e/x", "user@-h:x", "file:///etc", "https://u:p/q@h", "HTTPS://H/A//", "[::1]:x"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r, _, err := ParseRemote(raw, false)
		if err != nil {
			return
		}
		scheme, rest, _ := strings.Cut(r.URL, "://")
		user, _, has := strings.Cut(strings.SplitN(rest, "/", 2)[0], "@")
		if scheme != "https" && scheme != "http" && scheme != "ssh" || strings.HasPrefix(rest, "-") || strings.ContainsAny(r.URL, "\x00\r\n\t ") ||
			has && (scheme != "ssh" || strings.Contains(user, ":")) {
			t.Errorf("%q is taken as %q", raw, r.URL)
		}
		again, cred, err := ParseRemote(r.URL, false)
		if err != nil || again.URL != r.URL || cred.Password != "" {
			t.Errorf("%q is taken as %q, and that as %q (%v)", raw, r.URL, again.URL, err)
		}
	})
}

func FuzzHeaderOfAnObject(f *testing.F) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	for _, line := range []string{id + " blob 12\n", id + " missing\n", id + " commit -1\n", "x ambiguous\n", id + " tree 9223372036854775808\n", "\n", id + " blob 1"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, err := readHeader(bufio.NewReader(strings.NewReader(line)))
		if err == nil && (h.size < 0 || h.kind == "" || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), h.id.String())) {
			t.Errorf("%q is read as %+v", line, h)
		}
	})
}

// A reference that is taken is none that git would read as something else.
func FuzzReferenceName(f *testing.F) {
	for _, ref := range []string{"refs/heads/main", "refs/heads/../x", "refs/heads/a b", "-x", "refs/tags/v1^{}", "refs/heads/x.lock", "refs/\x7f", "refs/heads/@{1}"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		if CheckRef(ref) == nil && (!strings.HasPrefix(ref, "refs/") || strings.ContainsAny(ref, " ~^:?*[\\\x00\n") || strings.Contains(ref, "..")) {
			t.Errorf("%q is taken", ref)
		}
	})
}
