package cosign

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// logged is what the transparency log answered, as an annotation of a signature under a tag has it.
type logged struct {
	Promise string `json:"SignedEntryTimestamp"`
	Payload struct {
		Body  string `json:"body"`
		Time  int64  `json:"integratedTime"`
		Index int64  `json:"logIndex"`
		Log   string `json:"logID"`
	} `json:"Payload"`
}

// entry is the kind of an entry of the log.
type entry struct {
	Version string `json:"apiVersion"`
	Kind    string `json:"kind"`
}

// stamped is the answer of a timestamp authority, as an annotation has it.
type stamped struct {
	Response string `json:"SignedRFC3161Timestamp"`
}

// bundled is a signature as a bundle. One under a tag becomes one of the first version, which is made of the same parts. The chain that
// may be in its annotations is not read: the root has the certificates of the authority.
func (p Proof) bundled() ([]byte, *Fault) {
	if p.Signature == "" {
		return p.Payload, nil
	}
	if p.Certificate == "" {
		return nil, &Fault{Code: Uncertified}
	}
	material, ok := p.material()
	if !ok {
		return nil, &Fault{Code: integrity.Unreadable, Detail: "an annotation of it cannot be read"}
	}
	sum := sha256.Sum256(p.Payload)
	raw, err := json.Marshal(map[string]any{
		"mediaType": bundlePrefix + "+json;version=0.1", "verificationMaterial": material,
		"messageSignature": map[string]any{
			"messageDigest": map[string]any{"algorithm": "SHA2_256", "digest": sum[:]}, "signature": p.Signature,
		},
	})
	if err != nil {
		return nil, &Fault{Code: integrity.Unreadable}
	}
	return raw, nil
}

func (p Proof) material() (out map[string]any, ok bool) {
	if len(p.Certificate)+len(p.Log)+len(p.Timestamp) > maxPayload {
		return nil, false
	}
	block, rest := pem.Decode([]byte(p.Certificate))
	if block == nil || block.Type != "CERTIFICATE" || strings.TrimSpace(string(rest)) != "" {
		return nil, false
	}
	out = map[string]any{"x509CertificateChain": map[string]any{"certificates": []any{map[string]any{"rawBytes": block.Bytes}}}}
	if p.Log != "" {
		if out["tlogEntries"], ok = readLogged(p.Log); !ok {
			return nil, false
		}
	}
	if p.Timestamp != "" {
		var s stamped
		if strict.Decode([]byte(p.Timestamp), &s, strict.Foreign) != nil {
			return nil, false
		}
		out["timestampVerificationData"] = map[string]any{"rfc3161Timestamps": []any{map[string]any{"signedTimestamp": s.Response}}}
	}
	return out, true
}

// readLogged reads the one entry of a log.
func readLogged(text string) (entries []any, ok bool) {
	var l logged
	if strict.Decode([]byte(text), &l, strict.Foreign) != nil {
		return nil, false
	}
	id, err := hex.DecodeString(l.Payload.Log)
	if err != nil {
		return nil, false
	}
	body, err := base64.StdEncoding.DecodeString(l.Payload.Body)
	if err != nil {
		return nil, false
	}
	var e entry
	if strict.Decode(body, &e, strict.Foreign) != nil {
		return nil, false
	}
	return []any{map[string]any{
		"logIndex": strconv.FormatInt(l.Payload.Index, 10), "integratedTime": strconv.FormatInt(l.Payload.Time, 10),
		"logId": map[string]any{"keyId": id}, "kindVersion": map[string]any{"kind": e.Kind, "version": e.Version},
		"inclusionPromise": map[string]any{"signedEntryTimestamp": l.Promise}, "canonicalizedBody": body,
	}}, true
}
