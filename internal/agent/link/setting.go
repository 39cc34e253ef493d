package link

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// maxField is the longest value of a field that is reported, in bytes.
const maxField = 2 << 10

// SecretSetting returns what is reported about a Secret of a repository, a credential template or a cluster.
func SecretSetting(data map[string][]byte, labels map[string]string, version string, connection *agentapi.Connection,
	cluster *agentapi.ClusterState,
) ([]byte, error) {
	out := agentapi.Setting{Fields: map[string]string{}, Labels: labels, Version: version, Connection: connection, Cluster: cluster}
	for name, raw := range data {
		value := strings.TrimSpace(string(raw))
		switch {
		case value == "":
		case PublicField(name):
			out.Fields[name] = legible.Cut(redact.Addresses(value), maxField)
		case name == "config":
			out.Secrets = append(out.Secrets, configSecrets(raw)...)
		default:
			out.Secrets = append(out.Secrets, legible.Cut(name, maxField))
		}
	}
	slices.Sort(out.Secrets)
	return marshal(out)
}

// configSecrets names what the connection of a cluster has.
func configSecrets(raw []byte) []string {
	var in map[string]json.RawMessage
	if strict.Decode(raw, &in, strict.Foreign) != nil {
		return []string{"config"}
	}
	var out []string
	for _, name := range []string{"username", "password", "bearerToken", "execProviderConfig", "awsAuthConfig"} {
		if given(in[name]) {
			out = append(out, "config."+name)
		}
	}
	var tls map[string]json.RawMessage
	if strict.Decode(in["tlsClientConfig"], &tls, strict.Foreign) == nil {
		for _, name := range []string{"caData", "certData", "keyData"} {
			if given(tls[name]) {
				out = append(out, "config."+name)
			}
		}
	}
	return out
}

func given(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != `""` && s != "{}"
}

// Certificates returns what is reported about the data of argocd-tls-certs-cm, by name: that of the server.
func Certificates(data map[string]string, version string) map[string][]byte {
	out := map[string][]byte{}
	for host, text := range data {
		fields := map[string]string{"serverName": legible.Cut(host, maxField), "certType": "https"}
		for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
			if block.Type != "CERTIFICATE" {
				continue
			}
			sum := sha256.Sum256(block.Bytes)
			fields["fingerprint"] = "SHA256:" + hex.EncodeToString(sum[:])
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
				fields["certSubType"] = strings.ToLower(cert.PublicKeyAlgorithm.String())
				fields["subject"] = legible.Cut(cert.Subject.String(), maxField)
				fields["notAfter"] = cert.NotAfter.UTC().Format("2006-01-02T15:04:05Z")
			}
			break
		}
		put(out, host, agentapi.Setting{Fields: fields, Version: version})
	}
	return out
}

// KnownHosts returns what is reported about the file ssh_known_hosts, by name: ssh:HOST:TYPE.
func KnownHosts(text, version string) map[string][]byte {
	out := map[string][]byte{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
			fields = fields[1:] // a mark, such as that of an authority
		}
		if len(fields) < 3 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(fields[2])
		if err != nil {
			continue
		}
		sum := sha256.Sum256(raw)
		fingerprint := "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
		for host := range strings.SplitSeq(fields[0], ",") {
			if strings.HasPrefix(host, "|") {
				hashed := sha256.Sum256([]byte(line))
				host = "hashed-" + hex.EncodeToString(hashed[:4])
			}
			put(out, "ssh:"+host+":"+fields[1], agentapi.Setting{Version: version, Fields: map[string]string{
				"serverName": legible.Cut(host, maxField), "certType": "ssh", "certSubType": legible.Cut(fields[1], maxField),
				"fingerprint": fingerprint,
			}})
		}
	}
	return out
}

// GPGKeys returns what is reported about the data of argocd-gpg-keys-cm, by name: the id of the key.
func GPGKeys(data map[string]string, version string) map[string][]byte {
	out := map[string][]byte{}
	for id, text := range data {
		sum := sha256.Sum256([]byte(text))
		fields := map[string]string{"keyID": legible.Cut(id, maxField), "digest": fmt.Sprintf("sha256:%x", sum)}
		if key, err := integrity.ReadKey(text, time.Now()); err == nil {
			fields["owner"], fields["fingerprint"], fields["subType"] = legible.Cut(key.Owner, maxField), key.Fingerprint, key.Algorithm
			if !key.Expires.IsZero() {
				fields["notAfter"] = key.Expires.Format(time.RFC3339)
			}
			if key.Revoked {
				fields["revoked"] = "true"
			}
		} else {
			fields["unusable"] = legible.Cut(err.Error(), maxField)
		}
		put(out, id, agentapi.Setting{Version: version, Fields: fields})
	}
	return out
}

// maxEntries is how many entries of a ConfigMap are reported.
const maxEntries = 5000

func put(out map[string][]byte, name string, s agentapi.Setting) {
	if len(out) >= maxEntries || len(name) > maxName {
		return
	}
	if raw, err := marshal(s); err == nil {
		out[name] = raw
	}
}

// maxName is the longest name of an entry that is reported, in bytes.
const maxName = 253

// PublicField reports whether the value of a field of a Secret of a repository, a credential template or a cluster may be
// reported. Of all others only the names are.
func PublicField(name string) bool {
	return agentapi.SettingRepository.Open(name) || agentapi.SettingRepoCreds.Open(name) || agentapi.SettingCluster.Open(name)
}
