package v1alpha1

// SecretRef names a key of a Secret in the ApplicationSet's namespace.
type SecretRef struct {
	// SecretName is the Secret. Required.
	SecretName string `json:"secretName"`
	// Key is the key in its data. Required.
	Key string `json:"key"`
}

// ConfigMapKeyRef names a key of a ConfigMap in the ApplicationSet's namespace.
type ConfigMapKeyRef struct {
	// ConfigMapName is the ConfigMap. Required.
	ConfigMapName string `json:"configMapName"`
	// Key is the key in its data. Required.
	Key string `json:"key"`
}

// BearerToken signs in to Bitbucket with a token.
type BearerToken struct {
	// TokenRef is where the token is. Required.
	TokenRef *SecretRef `json:"tokenRef"`
}

// BasicAuth signs in to Bitbucket with a user name and password.
type BasicAuth struct {
	// Username is the user. Required.
	Username string `json:"username"`
	// PasswordRef is where the password or access token is. Required.
	PasswordRef *SecretRef `json:"passwordRef"`
}
