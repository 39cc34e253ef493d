// Package registrylogin signs requests to OCI registries in: with nothing, with a password, with tokens of the registry's token
// service, and with the identity that a cloud gives to the pod.
package registrylogin

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
)

// Secret is what a registry is read with. The zero value is anonymous access. Printing one shows only what kinds of secret it
// holds.
type Secret struct {
	Username, Password string
	Refresh            string    // for the token service of the registry alone, in place of a password
	Token              string    // sent to the registry as it is, as "Authorization: Bearer"
	Ends               time.Time // when the registry stops to accept it; zero where that is not known
}

// IsZero reports whether there is nothing to sign in with.
func (s Secret) IsZero() bool {
	return s.Username == "" && s.Password == "" && s.Refresh == "" && s.Token == ""
}

// String shows no secret.
func (s Secret) String() string {
	switch {
	case s.Token != "":
		return "secret(token)"
	case s.Refresh != "":
		return "secret(refresh token)"
	case s.Password != "":
		return "secret(password)"
	case s.Username != "":
		return "secret(user name)"
	}
	return "secret(anonymous)"
}

// GoString shows no secret.
func (s Secret) GoString() string { return s.String() }

// LogValue shows no secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON shows no secret.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// Check refuses a secret that would break a header.
func (s Secret) Check() error {
	for _, text := range []string{s.Username, s.Password, s.Refresh, s.Token} {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errors.New("the credential of the registry has a line break or another control character: remove it")
		}
	}
	if strings.Contains(s.Username, ":") {
		return errors.New("the user name of the registry has a colon, which no registry accepts: correct it")
	}
	return nil
}

// Keeper has the secrets of registries. It is safe for concurrent use.
type Keeper interface {
	// Secret returns what a repository of a registry is read with; the zero value where there is nothing.
	Secret(ctx context.Context, host, repository string) (Secret, error)
}

// Fixed is a Keeper that has one secret for every repository.
type Fixed Secret

// Secret returns the one secret.
func (f Fixed) Secret(context.Context, string, string) (Secret, error) { return Secret(f), nil }

// String shows no secret.
func (f Fixed) String() string { return Secret(f).String() }

// GoString shows no secret.
func (f Fixed) GoString() string { return Secret(f).String() }
