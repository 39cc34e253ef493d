package place

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// The connection of a cluster runs no program, and what it proves itself with is known as a secret.
func FuzzClusterConfig(f *testing.F) {
	f.Add([]byte(`{"bearerToken":"t","tlsClientConfig":{"insecure":false,"keyData":"a2V5"}}`))
	f.Add([]byte(`{"execProviderConfig":{"command":"sh","env":{"A":"b"}}}`))
	f.Add([]byte(`{"ExecProviderConfig":{},"awsauthconfig":{"clusterName":"x"},"PASSWORD":"p"}`))
	f.Add([]byte(`{"password":1}`))
	f.Fuzz(func(t *testing.T, config []byte) {
		c, err := clusterEntry{server: "https://cluster.example", secret: "c", config: config}.rest(nil)
		if err != nil {
			if secret := string(config); len(secret) > 8 && strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows the connection: %v", err)
			}
			return
		}
		if c.ExecProvider != nil || c.AuthProvider != nil {
			t.Error("it runs a program")
		}
		known := configValues(config)
		for _, secret := range []string{c.Password, c.BearerToken, base64.StdEncoding.EncodeToString(c.KeyData)} {
			if secret != "" && !slices.ContainsFunc(known, func(k string) bool {
				return k == secret || strings.NewReplacer("\n", "", "\r", "").Replace(k) == secret
			}) {
				t.Errorf("%q is used, and not known as a secret", secret)
			}
		}
	})
}
