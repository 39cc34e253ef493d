// Package authn finds out who asks: by password, by an identity provider, by a session or by a token. It keeps nothing
// in clear that lets one sign in.
package authn

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// User is a user as sign-in needs them. All fields but those of the password are the user's own in the store.
type User struct {
	api.User
	// PasswordHash is what HashPassword made; empty for users without a password here.
	PasswordHash string
	// Provider and ProviderSubject identify a user of an identity provider, and are unique together; empty for local users.
	Provider, ProviderSubject string
}

// NewPassword is a password that is set, and what ends with the one before.
type NewPassword struct {
	// Hash is what HashPassword made.
	Hash string
	// Was is the hash that was there when the password before was checked: the new one is refused where it is another one
	// by now. It is empty if the password was not checked before.
	Was        string
	MustChange bool
	// KeepSession is the hash of the one session that goes on; empty for none.
	KeepSession string
	// EndTokens ends the API tokens of the user too, but the one whose id is KeepToken; empty for none.
	EndTokens bool
	KeepToken string
}

// Users keeps users. What is not there is an [api.Error] of code not_found, what is there twice one of code conflict; so
// it is for all that is kept here.
type Users interface {
	// AuthUser gives a user with Groups: those that they are a member of, and those of the last sign-in by a provider.
	AuthUser(ctx context.Context, name string) (User, error)
	AuthUserByProvider(ctx context.Context, provider, subject string) (User, error)
	// CreateAuthUser makes a user.
	CreateAuthUser(ctx context.Context, u User) error
	// CreateFirstAdmin makes a user and a binding of role account.admin at the account for them, in one transaction, when
	// there is no user at all; else it says false.
	CreateFirstAdmin(ctx context.Context, u User) (bool, error)
	// SetPassword also ends what the password says is to end, in one transaction. It answers conflict where Was is over.
	SetPassword(ctx context.Context, name string, p NewPassword) error
	// SignedIn notes the time of a sign-in.
	SignedIn(ctx context.Context, name string, at time.Time) error
	// SignedInByProvider notes the time of a sign-in and replaces the claims of the provider: display name, mail, and the groups
	// that follow from it, which are kept apart from the memberships that people made.
	SignedInByProvider(ctx context.Context, name string, at time.Time, displayName, email string, groups ProviderGroups) error
	// GroupsByClaim are the ids of the groups whose Claim is one of those values.
	GroupsByClaim(ctx context.Context, claims []string) ([]string, error)
}

// ProviderGroups are the ids of the groups that follow from a provider's claims at a sign-in.
type ProviderGroups struct {
	// Claimed have a Claim that the provider sent. One that has no claim any more is ignored.
	Claimed []string
	// Mapped are those that the configuration of the provider names for the claims, whether they have a claim or not.
	Mapped []string
}

// Grounds are what a session or a token is made on, as it was seen before it is kept. The store checks in the same
// transaction whether they hold, and answers unauthenticated if not: an end of all sessions and tokens of a user also
// ends those that are being made.
type Grounds struct {
	// User is the user who signed in, PasswordHash what they had as a password then; empty if no user signs in.
	User, PasswordHash string
	// Session and Token are what the request came with: the hash of the one, the id of the other.
	Session, Token string
}

// ServiceAccounts keeps service accounts.
type ServiceAccounts interface {
	// AuthServiceAccount gives a service account, and the ids of the groups that it is in, if a group can have it.
	AuthServiceAccount(ctx context.Context, id string) (api.ServiceAccount, []string, error)
}

// Session is a browser's sign-in.
type Session struct {
	Hash      string // of the id that the browser has
	User      string
	Method    string // "password" or the name of a provider
	IP        string
	UserAgent string
	CreatedAt time.Time
	SeenAt    time.Time // to the minute
	ExpiresAt time.Time // at the latest, however much it is used
}

// Sessions keeps sessions.
type Sessions interface {
	// CreateSession keeps a session, if its grounds hold.
	CreateSession(ctx context.Context, s Session, on Grounds) error
	Session(ctx context.Context, hash string) (Session, error)
	TouchSession(ctx context.Context, hash string, seen time.Time) error
	// DeleteSession ends a session. One that is not there is no error.
	DeleteSession(ctx context.Context, hash string) error
	// DeleteSessionsOf ends all of a user.
	DeleteSessionsOf(ctx context.Context, user string) error
	// DeleteOldSessions removes those that expired, or were not seen since.
	DeleteOldSessions(ctx context.Context, now, unseenSince time.Time) error
}

// Token is an API token at rest: without its secret.
type Token struct {
	api.Token
	// Hash is of the secret.
	Hash string
}

// Tokens keeps API tokens. Those of a user or a service account go with their owner.
type Tokens interface {
	// CreateToken keeps a token, if its grounds hold. It answers conflict where the owner has one of that name.
	CreateToken(ctx context.Context, t Token, on Grounds) error
	AuthToken(ctx context.Context, id string) (Token, error)
	TouchToken(ctx context.Context, id string, used time.Time) error
	DeleteToken(ctx context.Context, id string) error
}

// Attempt is what is remembered of wrong passwords.
type Attempt struct {
	Failures    int
	LastAt      time.Time
	LockedUntil time.Time
}

// Attempts remembers wrong passwords by a key, whether there is a user of that name or not. A key is a hash of 64 characters.
type Attempts interface {
	// Attempt reads what is kept for the key (zero where nothing is), writes what next makes of it and gives that, all in one
	// transaction that no other one for the same key overlaps.
	Attempt(ctx context.Context, key string, next func(Attempt) Attempt) (Attempt, error)
	// ClearAttempts forgets the key.
	ClearAttempts(ctx context.Context, key string) error
	// DeleteOldAttempts forgets those whose last one was before.
	DeleteOldAttempts(ctx context.Context, before time.Time) error
}

// Pending is something that is finished once and soon: a sign-in at a provider that was begun, or a code for the
// command line. The body is JSON of this package; it holds hashes and names, no secret.
type Pending struct {
	Hash      string // of what brings it back
	Kind      string
	Body      []byte
	ExpiresAt time.Time
}

// Pendings keeps what is pending, for at most some minutes.
type Pendings interface {
	CreatePending(ctx context.Context, p Pending) error
	// TakePending gives it and removes it, so that it counts once even when two ask at the same moment.
	TakePending(ctx context.Context, kind, hash string) (Pending, error)
	// DeleteOldPending removes what expired.
	DeleteOldPending(ctx context.Context, now time.Time) error
}

// Identity is the caller.
type Identity struct {
	Principal api.Principal
	Subject   rbac.Subject
	// User is nil for a service account.
	User *api.User
	// Token is nil for a browser's session.
	Token *api.Token
	// Session is the hash of a browser's session; empty for a token.
	Session   string
	ExpiresAt time.Time
	// MustChangePassword lets nothing through but that.
	MustChangePassword bool
}

// Grounds are the basis on which a requested token is made.
func (i Identity) Grounds() Grounds {
	g := Grounds{Session: i.Session}
	if i.Token != nil {
		g.Token = i.Token.ID
	}
	return g
}

// Client is where a request comes from.
type Client struct {
	IP        string
	UserAgent string
}
