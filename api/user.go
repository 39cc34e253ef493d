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
	Email string `json:"email,omitempty" maxLength:"320" doc:"Address of mail" example:"ada@example.org"`
	// Origin never changes.
	Origin   string `json:"origin,omitempty" readOnly:"true" enum:"local,oidc" doc:"Who checks the password: this server or the identity provider"`
	Disabled bool   `json:"disabled,omitempty" doc:"A disabled user cannot sign in, and their sessions and tokens are worth nothing"`
	// Groups are ids of groups; changed by changing the group's members. With origin oidc those of the last sign-in are added.
	Groups []string `json:"groups,omitempty" readOnly:"true" doc:"Groups that the user is a member of"`
	// MustChangePassword is set with a password that somebody else chose.
	MustChangePassword bool      `json:"mustChangePassword,omitempty" doc:"The user may do nothing before they have chosen a password"`
	LockedUntil        time.Time `json:"lockedUntil,omitzero" readOnly:"true" doc:"Until when sign-in is refused after too many wrong passwords"`
	LastSignInAt       time.Time `json:"lastSignInAt,omitzero" readOnly:"true" doc:"When the user signed in last"`
}

// UserCreate is a user to make.
type UserCreate struct {
	User
	Password string `json:"password,omitempty" writeOnly:"true" minLength:"12" maxLength:"256" doc:"First password, which the user has to change; without one the server makes one and says it once" example:"correct horse battery"`
}

// UserCreated is a user that was made.
type UserCreated struct {
	User
	// Password is what the server made; it is said once.
	Password string `json:"password,omitempty" doc:"Password that the server made; it is said once"`
}

// PasswordChange is how somebody changes their own password.
type PasswordChange struct {
	Current string `json:"current" writeOnly:"true" maxLength:"256" doc:"Password of now" example:"correct horse battery"`
	New     string `json:"new" writeOnly:"true" minLength:"12" maxLength:"256" doc:"Password from now on" example:"staple orbit lantern"`
	// EndTokens ends all API tokens of the user but the one of the request: for who fears that somebody knew the password.
	EndTokens bool `json:"endTokens,omitempty" doc:"End your API tokens too, but the one of this request"`
}

// PasswordReset is the password that somebody was given.
type PasswordReset struct {
	// Password is said once; the user has to change it.
	Password string `json:"password" doc:"Password that the user signs in with once, to choose their own"`
}

// Group is a set of users, at any scope.
type Group struct {
	Meta
	Members []string `json:"members,omitempty" maxItems:"10000" doc:"Ids of the users" example:"[\"ada\"]"`
	// Claim is a value of the identity provider's group claim; who has it is a member for as long as the session lasts.
	Claim string `json:"claim,omitempty" maxLength:"500" doc:"Value of the identity provider's group claim that makes its bearer a member" example:"platform-team"`
}

// ServiceAccount is a program that uses the API, at any scope. It signs in with tokens.
type ServiceAccount struct {
	Meta
	Disabled bool `json:"disabled,omitempty" doc:"The tokens of a disabled service account are worth nothing"`
}
