package api

import "time"

// SignIn is how a local user signs in.
type SignIn struct {
	Username string `json:"username" maxLength:"63" doc:"Name of the user" example:"admin"`
	Password string `json:"password" writeOnly:"true" maxLength:"256" doc:"Password of the user" example:"correct horse battery"`
	// Token asks for a token instead of a cookie: what the command line signs in with.
	Token string `json:"token,omitempty" maxLength:"63" doc:"Name of a token to create instead of a browser session" example:"laptop"`
}

// Session is what a sign-in gave.
type Session struct {
	User      User      `json:"user" doc:"User who signed in"`
	ExpiresAt time.Time `json:"expiresAt" doc:"Time at which the session or token expires"`
	// Token is there when one was asked for.
	Token string `json:"token,omitempty" doc:"The requested token; the server shows it only once"`
	// TokenID names the token, to delete it at sign-out.
	TokenID string `json:"tokenId,omitempty" doc:"Id of that token"`
}

// SignInMethods is how one can sign in.
type SignInMethods struct {
	Password bool `json:"password" doc:"Local users sign in with a password"`
	// OIDC is where a browser goes to sign in with the identity provider; "" where there is none.
	OIDC     string `json:"oidc,omitempty" doc:"Path that starts the sign-in with the identity provider" example:"/api/v1/session/oidc"`
	OIDCName string `json:"oidcName,omitempty" doc:"Name of the identity provider, for the button" example:"Example SSO"`
}

// Whoami is the caller, and their permissions.
type Whoami struct {
	Principal Principal `json:"principal" doc:"User or service account"`
	User      *User     `json:"user,omitempty" doc:"The user, if the caller is a user"`
	Groups    []string  `json:"groups,omitempty" doc:"Groups of this session"`
	// Token is that of the request; nil for a browser session.
	Token     *Token    `json:"token,omitempty" doc:"Token of the request, without its secret"`
	ExpiresAt time.Time `json:"expiresAt,omitzero" doc:"Time at which the session or token expires"`
	// Grants are the permissions that are held at some scope.
	Grants []Grant `json:"grants" doc:"Permissions by scope"`
}

// Grant is the permissions that are held at a scope and below it, for all objects or for some.
type Grant struct {
	Scope       Scope        `json:"scope" doc:"Scope" example:"org.acme"`
	Role        string       `json:"role,omitempty" doc:"Role that grants it" example:"account.developer"`
	Binding     string       `json:"binding,omitempty" doc:"Binding that gives the role" example:"org.acme.developers"`
	Partial     bool         `json:"partial,omitempty" doc:"The permissions apply to some objects only: those of the binding's resource group"`
	Permissions []Permission `json:"permissions" doc:"Permissions"`
}

// CodeExchange is how a command line gets a token after its user signed in with the identity provider. It sent the
// browser to /api/v1/session/oidc with cli_redirect (an address of its own on loopback), cli_challenge (the SHA-256 of the
// verifier, in base64 for URLs) and cli_state.
type CodeExchange struct {
	Code     string `json:"code" writeOnly:"true" maxLength:"200" doc:"Code from the browser"`
	Verifier string `json:"verifier" writeOnly:"true" maxLength:"128" doc:"Verifier of the challenge"`
	Token    string `json:"token" maxLength:"63" doc:"Name of the token" example:"laptop"`
}
