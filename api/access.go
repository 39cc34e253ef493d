package api

// AccessQuestion asks whether a principal may do something.
type AccessQuestion struct {
	// Principal is the caller where it is left out; to ask about others takes binding_view.
	Principal  Principal  `json:"principal,omitzero" doc:"Principal; default: the caller"`
	Permission Permission `json:"permission" maxLength:"63" doc:"Action" example:"application_sync"`
	// Object is the id of one object; "" with a scope for any object there.
	Object string            `json:"object,omitempty" maxLength:"700" doc:"Id of the object" example:"account.prod/argocd/shop"`
	Scope  Scope             `json:"scope,omitempty" maxLength:"140" doc:"Scope, if no object is named" example:"org.acme"`
	Labels map[string]string `json:"labels,omitempty" doc:"Labels to assume, if no object is named"`
}

// AccessAnswer says yes or no and why.
type AccessAnswer struct {
	Allowed bool `json:"allowed" doc:"Whether the principal is allowed to do it"`
	// Why names the binding that allows it, or says what is missing.
	Why string `json:"why" doc:"The binding that allows it, or the missing permission" example:"binding org.acme.developers gives role account.developer at scope org.acme"`
}
