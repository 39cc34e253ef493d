package authn

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// memory keeps what sign-in needs, as the contracts have it. The store's own is tested in its package, with databases.
type memory struct {
	mu       sync.Mutex
	users    map[string]User
	accounts map[string]api.ServiceAccount
	claims   map[string]string // of groups, by their ids
	provided map[string][]string
	members  map[string][]string // groups by user
	sessions map[string]Session
	tokens   map[string]Token
	attempts map[string]Attempt
	pending  map[string]Pending
	touches  int
}

func newMemory() *memory {
	return &memory{
		users: map[string]User{}, accounts: map[string]api.ServiceAccount{}, claims: map[string]string{}, provided: map[string][]string{},
		members: map[string][]string{}, sessions: map[string]Session{}, tokens: map[string]Token{}, attempts: map[string]Attempt{}, pending: map[string]Pending{},
	}
}

var (
	errNone  = api.Errorf(api.CodeNotFound, "there is none")
	errTwice = api.Errorf(api.CodeConflict, "there is one already")
)

func locked[T any](m *memory, do func() (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return do()
}

func get[T any](m *memory, from map[string]T, key string) (T, error) {
	return locked(m, func() (T, error) {
		v, ok := from[key]
		if !ok {
			return v, errNone
		}
		return v, nil
	})
}

func change[T any](m *memory, in map[string]T, key string, do func(*T)) error {
	_, err := locked(m, func() (T, error) {
		v, ok := in[key]
		if !ok {
			return v, errNone
		}
		do(&v)
		in[key] = v
		return v, nil
	})
	return err
}

func add[T any](m *memory, to map[string]T, key string, v T) error {
	_, err := locked(m, func() (T, error) {
		if _, ok := to[key]; ok {
			return v, errTwice
		}
		to[key] = v
		return v, nil
	})
	return err
}

func (m *memory) AuthUser(_ context.Context, name string) (User, error) {
	u, err := get(m, m.users, name)
	u.Groups = slices.Concat(m.members[name], m.provided[name])
	return u, err
}

func (m *memory) AuthUserByProvider(_ context.Context, provider, subject string) (User, error) {
	return locked(m, func() (User, error) {
		for _, u := range m.users {
			if u.Provider == provider && u.ProviderSubject == subject {
				return u, nil
			}
		}
		return User{}, errNone
	})
}

func (m *memory) CreateAuthUser(_ context.Context, u User) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, have := range m.users {
		if name == u.ID || u.Provider != "" && have.Provider == u.Provider && have.ProviderSubject == u.ProviderSubject {
			return errTwice
		}
	}
	m.users[u.ID] = u
	return nil
}

func (m *memory) CreateFirstAdmin(_ context.Context, u User) (bool, error) {
	return locked(m, func() (bool, error) {
		if len(m.users) > 0 {
			return false, nil
		}
		m.users[u.ID] = u
		return true, nil
	})
}

func (m *memory) SetPassword(_ context.Context, name string, p NewPassword) error {
	var wrong error
	err := change(m, m.users, name, func(u *User) {
		if p.Was != "" && p.Was != u.PasswordHash {
			wrong = errTwice
			return
		}
		u.PasswordHash, u.MustChangePassword = p.Hash, p.MustChange
		maps.DeleteFunc(m.sessions, func(h string, s Session) bool { return s.User == name && h != p.KeepSession })
		maps.DeleteFunc(m.tokens, func(id string, t Token) bool {
			return p.EndTokens && t.Owner == api.Principal{Type: api.PrincipalUser, ID: name} && id != p.KeepToken
		})
	})
	return errors.Join(err, wrong)
}

func (m *memory) SignedIn(_ context.Context, name string, at time.Time) error {
	return change(m, m.users, name, func(u *User) { u.LastSignInAt = at })
}

func (m *memory) SignedInByProvider(_ context.Context, name string, at time.Time, displayName, email string, groups ProviderGroups) error {
	return change(m, m.users, name, func(u *User) {
		u.LastSignInAt, u.DisplayName, u.Email = at, displayName, email
		m.provided[name] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(groups.Claimed, groups.Mapped))))
	})
}

func (m *memory) GroupsByClaim(_ context.Context, claims []string) ([]string, error) {
	return locked(m, func() ([]string, error) {
		var out []string
		for id, claim := range m.claims {
			if slices.Contains(claims, claim) {
				out = append(out, id)
			}
		}
		return out, nil
	})
}

func (m *memory) AuthServiceAccount(_ context.Context, id string) (api.ServiceAccount, []string, error) {
	a, err := get(m, m.accounts, id)
	return a, nil, err
}

// holds says whether grounds hold. The caller holds the lock.
func (m *memory) holds(g Grounds) error {
	u, known := m.users[g.User]
	_, session := m.sessions[g.Session]
	_, token := m.tokens[g.Token]
	if g.User != "" && (!known || u.Disabled || u.PasswordHash != g.PasswordHash) || g.Session != "" && !session || g.Token != "" && !token {
		return api.Errorf(api.CodeUnauthenticated, "sign in again")
	}
	return nil
}

func (m *memory) CreateSession(_ context.Context, s Session, on Grounds) error {
	if _, err := locked(m, func() (bool, error) { return true, m.holds(on) }); err != nil {
		return err
	}
	return add(m, m.sessions, s.Hash, s)
}

func (m *memory) Session(_ context.Context, hash string) (Session, error) {
	return get(m, m.sessions, hash)
}

func (m *memory) TouchSession(_ context.Context, hash string, seen time.Time) error {
	m.touches++
	return change(m, m.sessions, hash, func(s *Session) { s.SeenAt = seen })
}

func (m *memory) DeleteSession(_ context.Context, hash string) error {
	_, err := locked(m, func() (bool, error) { delete(m.sessions, hash); return true, nil })
	return err
}

func (m *memory) DeleteSessionsOf(_ context.Context, user string) error {
	_, err := locked(m, func() (bool, error) {
		maps.DeleteFunc(m.sessions, func(_ string, s Session) bool { return s.User == user })
		return true, nil
	})
	return err
}

func (m *memory) DeleteOldSessions(_ context.Context, now, unseenSince time.Time) error {
	_, err := locked(m, func() (bool, error) {
		maps.DeleteFunc(m.sessions, func(_ string, s Session) bool { return !now.Before(s.ExpiresAt) || s.SeenAt.Before(unseenSince) })
		return true, nil
	})
	return err
}

func (m *memory) CreateToken(_ context.Context, t Token, on Grounds) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.holds(on); err != nil {
		return err
	}
	for _, have := range m.tokens {
		if have.Owner == t.Owner && have.Name == t.Name {
			return errTwice
		}
	}
	m.tokens[t.ID] = t
	return nil
}

func (m *memory) AuthToken(_ context.Context, id string) (Token, error) { return get(m, m.tokens, id) }

func (m *memory) TouchToken(_ context.Context, id string, used time.Time) error {
	m.touches++
	return change(m, m.tokens, id, func(t *Token) { t.LastUsedAt = used })
}

func (m *memory) DeleteToken(_ context.Context, id string) error {
	_, err := locked(m, func() (bool, error) { delete(m.tokens, id); return true, nil })
	return err
}

func (m *memory) Attempt(_ context.Context, key string, next func(Attempt) Attempt) (Attempt, error) {
	return locked(m, func() (Attempt, error) {
		m.attempts[key] = next(m.attempts[key])
		return m.attempts[key], nil
	})
}

func (m *memory) ClearAttempts(_ context.Context, key string) error {
	_, err := locked(m, func() (bool, error) { delete(m.attempts, key); return true, nil })
	return err
}

func (m *memory) DeleteOldAttempts(_ context.Context, before time.Time) error {
	_, err := locked(m, func() (bool, error) {
		maps.DeleteFunc(m.attempts, func(_ string, a Attempt) bool { return a.LastAt.Before(before) })
		return true, nil
	})
	return err
}

func (m *memory) CreatePending(_ context.Context, p Pending) error {
	return add(m, m.pending, p.Hash, p)
}

func (m *memory) TakePending(_ context.Context, kind, hash string) (Pending, error) {
	return locked(m, func() (Pending, error) {
		p, ok := m.pending[hash]
		if !ok || p.Kind != kind {
			return p, errNone
		}
		delete(m.pending, hash)
		return p, nil
	})
}

func (m *memory) DeleteOldPending(_ context.Context, now time.Time) error {
	_, err := locked(m, func() (bool, error) {
		maps.DeleteFunc(m.pending, func(_ string, p Pending) bool { return !now.Before(p.ExpiresAt) })
		return true, nil
	})
	return err
}

// clock is the time of a test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// cheap are parameters for tests: what is tested is not how long it takes.
var cheap = Params{Memory: 64, Time: 1, Threads: 1}

const goodPassword = "correct horse battery"

// desk is a sign-in with all that it stands on.
type desk struct {
	*Authn
	store *memory
	clock *clock
}

func newDesk(t *testing.T, adapt ...func(*Config)) desk {
	t.Helper()
	d := desk{store: newMemory(), clock: &clock{at: time.Now().UTC().Truncate(time.Second)}}
	cfg := Config{
		Users: d.store, ServiceAccounts: d.store, Sessions: d.store, Tokens: d.store, Attempts: d.store, Pendings: d.store,
		URL: "https://slipway.example.org", Hash: cheap, Now: d.clock.now,
	}
	for _, a := range adapt {
		a(&cfg)
	}
	var err error
	if d.Authn, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return d
}

// user makes a local user with the good password.
func (d desk) user(t *testing.T, name string) {
	t.Helper()
	hash, err := d.hasher.hash(t.Context(), goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	u := User{User: api.User{Meta: api.Meta{ID: name, Name: name, Scope: api.ScopeAccount}, Origin: api.OriginLocal}, PasswordHash: hash}
	if err := d.store.CreateAuthUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}
