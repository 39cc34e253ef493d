package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// ConfigEntry is one line of a file in git's format. The name of a section and that of a variable are in lower case.
type ConfigEntry struct{ Key, Value string }

// maxEntries bounds the lines of a file that is read.
const maxEntries = 10_000

// ErrConfig says that a text is no configuration of git, or has too many lines.
var ErrConfig = errors.New("no configuration of git")

// Config reads a text in the format of .gitmodules and .lfsconfig, as git does. It includes no other file.
func (m *Mirror) Config(text []byte) ([]ConfigEntry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := m.client.run(ctx, command{
		args: []string{"config", "--file", "-", "--no-includes", "--null", "--list"}, stdin: bytes.NewReader(text),
	})
	var said *runError
	if errors.As(err, &said) && strings.Contains(said.message, "bad config") {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err != nil {
		return nil, err
	}
	var entries []ConfigEntry
	for item := range strings.SplitSeq(string(out), "\x00") {
		if item == "" {
			continue
		}
		if len(entries) == maxEntries {
			return nil, fmt.Errorf("%w: more than %d lines", ErrConfig, maxEntries)
		}
		key, value, _ := strings.Cut(item, "\n")
		entries = append(entries, ConfigEntry{key, value})
	}
	return entries, nil
}

// Join is the address that one of a submodule stands for: one that begins with ./ or ../ is relative to the repository.
func (r Remote) Join(address string) (string, error) {
	if address != "." && address != ".." && !strings.HasPrefix(address, "./") && !strings.HasPrefix(address, "../") {
		return address, nil
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return "", err
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+"/", ""
	return strings.TrimRight(u.JoinPath(address).String(), "/"), nil
}

// Host is scheme, host and port: where a credential that is sent to the repository may be sent too.
func (r Remote) Host() string { return r.scheme + "://" + r.host }

// Anonymous reports whether the credential signs in with nothing.
func (c Credential) Anonymous() bool { return c.kinds() == "anonymous" }
