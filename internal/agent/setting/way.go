package setting

import (
	"encoding/json"
	"strings"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	fieldConfig = "config" // of the Secret of a cluster
	fieldTLS    = "tlsClientConfig"
)

// trusting are the fields of tlsClientConfig that decide which API server is believed.
func trusting() []string { return []string{"caData", "insecure", "serverName"} }

// passing are the other fields of config that are about the way to an API server.
func passing() []string { return []string{"proxyUrl", "disableCompression"} }

// keepWay has new credentials of a cluster take the way of the old ones: where they come without a word on the certificate of the API
// server, and its address stays, what was set about certificate and proxy stays too. Credentials never do.
func keepWay(have, next map[string][]byte, req agentapi.SettingChange) {
	if req.Type != agentapi.SettingCluster || req.Fields[fieldConfig] == "" || len(have[fieldConfig]) == 0 ||
		strings.TrimSpace(string(have["server"])) != strings.TrimSpace(string(next["server"])) {
		return
	}
	was, will := objectIn(have[fieldConfig]), objectIn(next[fieldConfig])
	wasTLS, willTLS := objectIn(was[fieldTLS]), objectIn(will[fieldTLS])
	if will == nil || willTLS == nil {
		return // it is reported where it is checked
	}
	for _, name := range trusting() {
		if _, said := willTLS[name]; said {
			return
		}
	}
	copyFields(willTLS, wasTLS, trusting())
	copyFields(will, was, passing())
	raw, err := json.Marshal(willTLS)
	if err != nil {
		return
	}
	will[fieldTLS] = raw
	if raw, err = json.Marshal(will); err == nil {
		next[fieldConfig] = raw
	}
}

// copyFields copies fields that to does not have.
func copyFields(to, from map[string]json.RawMessage, names []string) {
	for _, name := range names {
		if value, ok := from[name]; ok && to[name] == nil {
			to[name] = value
		}
	}
}

// objectIn reads an object: an empty one of nothing, and nil of what is none.
func objectIn(raw []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if len(raw) > 0 && (strict.Decode(raw, &out, strict.Unknown, strict.Foreign) != nil || out == nil) {
		return nil
	}
	return out
}
