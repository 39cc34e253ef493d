package api

import "time"

// Origins of a user.
const (
	OriginLocal = "local"
	OriginOIDC  = "oidc"
)

// User is a person. Users belong to the account; the id is the name.
type User struct {
	Meta
	Email string `json:"email,omitempty" maxLength:"320" doc:"Mail address" example:"ada@example.org"`
	// Origin never changes.
	Origin   string `json:"origin,omitempty" readOnly:"true" enum:"local,oidc" doc:"Origin of the user: this server or the identity provider"`
	Disabled bool   `json:"disabled,omitempty" doc:"A disabled user cannot sign in, and their sessions and tokens are invalid"`
	// Groups are ids of groups; changed by changing the group's members. With origin oidc those of the last sign-in are added.
	Groups []string `json:"groups,omitempty" readOnly:"true" doc:"Groups that the user is a member of"`
	// MustChangePassword is set with a password that another user or the server chose.
	MustChangePassword bool      `json:"mustChangePassword,omitempty" doc:"The user must change the password before any other request"`
	LockedUntil        time.Time `json:"lockedUntil,omitzero" readOnly:"true" doc:"Time until which sign-in is refused after too many wrong passwords"`
	LastSignInAt       time.Time `json:"lastSignInAt,omitzero" readOnly:"true" doc:"Time of the last sign-in"`
}

// UserCreate is a user to make.
type UserCreate struct {
	User
	Password string `json:"password,omitempty" writeOnly:"true" minLength:"12" maxLength:"256" doc:"First password, which the user must change; default: the server generates one and shows it only once" example:"correct horse battery"`
}

// UserCreated is a user that was made.
type UserCreated struct {
	User
	// Password is what the server made; it is shown once.
	Password string `json:"password,omitempty" doc:"Generated password; the server shows it only once"`
}

// PasswordChange is how users change their own password.
type PasswordChange struct {
	Current string `json:"current" writeOnly:"true" maxLength:"256" doc:"Present password" example:"correct horse battery"`
	New     string `json:"new" writeOnly:"true" minLength:"12" maxLength:"256" doc:"New password" example:"staple orbit lantern"`
	// EndTokens ends all API tokens of the user but the one of the request: for users whose password may have leaked.
	EndTokens bool `json:"endTokens,omitempty" doc:"Also revoke your API tokens, except for the one of this request"`
}

// PasswordReset is the new password of a user.
type PasswordReset struct {
	// Password is shown once; the user has to change it.
	Password string `json:"password" doc:"One-time password, with which the user chooses their own"`
}

// Group is a set of users, at any scope.
type Group struct {
	Meta
	Members []string `json:"members,omitempty" maxItems:"10000" doc:"Ids of the users" example:"[\"ada\"]"`
	// Claim is a value of the identity provider's group claim; a user with it is a member for as long as the session lasts.
	Claim string `json:"claim,omitempty" maxLength:"500" doc:"Value of the identity provider's group claim that makes its bearer a member" example:"platform-team"`
}

// ServiceAccount is a program that uses the API, at any scope. It signs in with tokens.
type ServiceAccount struct {
	Meta
	Disabled bool `json:"disabled,omitempty" doc:"The tokens of a disabled service account are invalid"`
}
