package setting

import (
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestNewCredentialsOfAClusterTakeTheWayOfTheOldOnes(t *testing.T) {
	t.Parallel()
	const was = `{"username":"u","password":"p","tlsClientConfig":{"caData":"Y2E=","serverName":"edge","certData":"Yw==","keyData":"aw=="},` +
		`"proxyUrl":"http://proxy:3128","execProviderConfig":{"command":"x"}}`
	for _, c := range []struct{ name, server, config, want string }{
		{
			"a token", "https://edge", `{"bearerToken":"t"}`,
			`{"bearerToken":"t","proxyUrl":"http://proxy:3128","tlsClientConfig":{"caData":"Y2E=","serverName":"edge"}}`,
		},
		{
			"a client certificate", "https://edge", `{"tlsClientConfig":{"certData":"Qw==","keyData":"Sw=="}}`,
			`{"proxyUrl":"http://proxy:3128","tlsClientConfig":{"caData":"Y2E=","certData":"Qw==","keyData":"Sw==","serverName":"edge"}}`,
		},
		{
			"another proxy", "https://edge", `{"bearerToken":"t","proxyUrl":""}`,
			`{"bearerToken":"t","proxyUrl":"","tlsClientConfig":{"caData":"Y2E=","serverName":"edge"}}`,
		},
		{"a word on the certificate", "https://edge", `{"tlsClientConfig":{"insecure":false}}`, `{"tlsClientConfig":{"insecure":false}}`},
		{"another address", "https://other", `{"bearerToken":"t"}`, `{"bearerToken":"t"}`},
		{"no object", "https://edge", `[1]`, `[1]`},
		{"null", "https://edge", `null`, `null`},
		{"none", "https://edge", ``, ``},
	} {
		have := map[string][]byte{"server": []byte("https://edge"), "config": []byte(was)}
		got := nextData(have, agentapi.SettingChange{
			Type: agentapi.SettingCluster, Fields: map[string]string{"server": c.server, "config": c.config},
		})
		if string(got["config"]) != c.want {
			t.Errorf("%s: %s, want %s", c.name, got["config"], c.want)
		}
		if string(have["config"]) != was {
			t.Errorf("%s: what was there has changed", c.name)
		}
	}
	for name, config := range map[string]string{"nothing": "", "no object": "7"} {
		got := nextData(map[string][]byte{"config": []byte(config)}, agentapi.SettingChange{
			Type: agentapi.SettingCluster, Fields: map[string]string{"config": `{"bearerToken":"t"}`},
		})
		if s := string(got["config"]); s != `{"bearerToken":"t"}` && s != `{"bearerToken":"t","tlsClientConfig":{}}` {
			t.Errorf("after %s: %s", name, s)
		}
	}
}
