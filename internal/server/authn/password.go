package authn

import (
	"context"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/slipway-gitops/slipway/api"
)

// Length of a password, in characters, and in bytes what is looked at at all.
const (
	minPassword   = 12
	maxPassword   = 256
	maxSecretText = 1024
	minDistinct   = 5
)

// normal is a password in the one form that keyboards of all systems give.
func normal(password string) string { return norm.NFKC.String(password) }

// CheckPassword says what is wrong with a new password: rules that keep out what is guessed first, and none that make
// people write it down.
func CheckPassword(user, password string) error {
	length := utf8.RuneCountInString(normal(password))
	plain := strings.ToLower(normal(password))
	wrong := func(format string, args ...any) error {
		err := &api.Error{Code: api.CodeInvalid, Field: "password"}
		err.Message = api.Errorf(api.CodeInvalid, format, args...).Error()
		return err
	}
	switch {
	case !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl):
		return wrong("the password has characters that cannot be typed: leave control characters out")
	case len(password) > maxSecretText || length > maxPassword:
		return wrong("the password has more than %d characters: take a shorter one", maxPassword)
	case length < minPassword:
		return wrong("the password has %d characters: take at least %d, several words for instance", length, minPassword)
	case user != "" && strings.Contains(plain, strings.ToLower(user)) && length-utf8.RuneCountInString(user) < minPassword:
		return wrong("the password is little more than the user name: take another one")
	case distinct(plain) < minDistinct || sequence(plain) || common(plain):
		return wrong("the password is easy to guess: take several words that have nothing to do with each other")
	}
	return nil
}

func distinct(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

// sequence says whether most characters follow from the one before, as in abcdefgh or 12345678.
func sequence(s string) bool {
	steps, before := 0, rune(-2)
	for _, r := range s {
		if d := r - before; d == 1 || d == 0 || d == -1 {
			steps++
		}
		before = r
	}
	return 4*steps >= 3*(utf8.RuneCountInString(s)-1)
}

// minLetters are what a password must have besides the words that are tried first.
const minLetters = 4

// common says whether little is left of a password once the words are gone that are tried first.
func common(s string) bool {
	plain := strings.NewReplacer("@", "a", "0", "o", "$", "s", "3", "e").Replace(s)
	rest := plain
	for _, word := range []string{
		"password", "passwort", "slipway", "qwertyuiop", "qwerty", "asdfghjkl", "letmein", "welcome",
		"administrator", "admin", "iloveyou", "changeme", "secret",
	} {
		rest = strings.ReplaceAll(rest, word, "")
	}
	letters := 0
	for _, r := range rest {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return rest != plain && letters < minLetters
}

// newPassword is one that the server makes: 100 bits, in groups that can be read aloud.
func newPassword() string {
	letters := lower32(random(13))[:20]
	parts := make([]string, 0, 4)
	for i := 0; i < len(letters); i += 5 {
		parts = append(parts, letters[i:i+5])
	}
	return strings.Join(parts, "-")
}

// checkPassword finds the user whose password it is. Its answer does not reveal whether there is a user of that
// name, neither by its text nor by its time.
func (a *Authn) checkPassword(ctx context.Context, name, password, from string) (User, error) {
	refused := api.Errorf(api.CodeUnauthenticated, "the user name or the password is wrong")
	if len(password) > maxSecretText || api.CheckName(name) != nil {
		_, _, err := a.hasher.verify(ctx, "", "")
		return User{}, first(err, refused)
	}
	user, err := a.cfg.Users.AuthUser(ctx, name)
	if err != nil && api.CodeOf(err) != api.CodeNotFound {
		return User{}, err
	}
	if err := a.beginAttempt(ctx, user, name, from); err != nil {
		return User{}, err
	}
	ok, old, err := a.hasher.verify(ctx, user.PasswordHash, password)
	if err != nil {
		return User{}, err
	}
	if !ok {
		return User{}, refused
	}
	if err := a.endAttempt(ctx, user, name, from); err != nil {
		return User{}, err
	}
	if user.Disabled {
		return User{}, disabled(name)
	}
	if old {
		user.PasswordHash = a.rehash(ctx, user, password)
	}
	return user, nil
}

// rehash keeps the password with the parameters of now; the user's other sessions end with it. It gives the hash that is
// kept then. When it fails, the next sign-in tries again.
func (a *Authn) rehash(ctx context.Context, user User, password string) string {
	hash, err := a.hasher.hash(ctx, password)
	if err == nil {
		err = a.cfg.Users.SetPassword(ctx, user.ID, NewPassword{Hash: hash, Was: user.PasswordHash, MustChange: user.MustChangePassword})
	}
	if err != nil {
		a.cfg.Log.Warn("a password hash was not renewed", slog.String("user", user.ID), slog.Any("err", err))
		return user.PasswordHash
	}
	return hash
}

func disabled(name string) error {
	return api.Errorf(api.CodeForbidden, "%s is disabled: ask an administrator of this server", name)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ChangePassword sets a new password of the user's own choice. All of their sessions end but the one that they ask with;
// their API tokens too if the change requests it.
func (a *Authn) ChangePassword(ctx context.Context, who Identity, change api.PasswordChange) error {
	user := who.Subject.UserID
	checked, err := a.checkPassword(ctx, user, change.Current, signedIn)
	if err != nil {
		if api.CodeOf(err) == api.CodeUnauthenticated {
			return &api.Error{
				Code: api.CodeInvalid, Field: "current", Message: "the present password is wrong: type it again, or have an administrator reset it",
			}
		}
		return err
	}
	if same(normal(change.Current), normal(change.New)) {
		return &api.Error{Code: api.CodeInvalid, Field: "new", Message: "the new password is the present one: take another one"}
	}
	next := NewPassword{Was: checked.PasswordHash, KeepSession: who.Session, EndTokens: change.EndTokens}
	if who.Token != nil {
		next.KeepToken = who.Token.ID
	}
	return a.setPassword(ctx, user, change.New, next)
}

func (a *Authn) setPassword(ctx context.Context, user, password string, next NewPassword) error {
	if err := CheckPassword(user, password); err != nil {
		return err
	}
	var err error
	if next.Hash, err = a.hasher.hash(ctx, password); err != nil {
		return err
	}
	return a.cfg.Users.SetPassword(ctx, user, next)
}

// ResetPassword sets a password that the user must change at the next sign-in; the server makes one where it is empty. All
// sessions and API tokens of the user end, since any user with the password may have made them, and wrong passwords are
// forgotten.
func (a *Authn) ResetPassword(ctx context.Context, user, password string) (string, error) {
	u, err := a.cfg.Users.AuthUser(ctx, user)
	if err != nil {
		return "", err
	}
	if u.Origin == api.OriginOIDC {
		return "", api.Errorf(api.CodeInvalid, "user %s signs in with an identity provider and has no password here: reset it there", user)
	}
	if password == "" {
		password = newPassword()
	}
	if err := a.setPassword(ctx, user, password, NewPassword{MustChange: true, EndTokens: true}); err != nil {
		return "", err
	}
	return password, a.cfg.Attempts.ClearAttempts(ctx, nameKey(user))
}

// FirstAdmin makes the first user, admin, with all permissions, and returns the password: say it once. It is empty where
// there are users already. A password that is given is taken instead of a random one.
func (a *Authn) FirstAdmin(ctx context.Context, password string) (string, error) {
	const name = "admin"
	if _, err := a.cfg.Users.AuthUser(ctx, name); err == nil || api.CodeOf(err) != api.CodeNotFound {
		return "", err
	}
	if password == "" {
		password = newPassword()
	}
	if err := CheckPassword(name, password); err != nil {
		return "", err
	}
	hash, err := a.hasher.hash(ctx, password)
	if err != nil {
		return "", err
	}
	made, err := a.cfg.Users.CreateFirstAdmin(ctx, User{
		User: api.User{
			Meta:   api.Meta{ID: name, Name: name, Scope: api.ScopeAccount, DisplayName: "Administrator"},
			Origin: api.OriginLocal,
		},
		PasswordHash: hash,
	})
	if err != nil || !made {
		return "", err
	}
	return password, nil
}
