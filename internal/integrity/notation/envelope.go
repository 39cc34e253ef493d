package notation

import (
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/notaryproject/notation-core-go/signature"
	envelopecose "github.com/notaryproject/notation-core-go/signature/cose"
	"github.com/notaryproject/notation-core-go/signature/jws"
	"github.com/veraison/go-cose"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of one signature.
const (
	MaxEnvelope     = 64 << 10 // bytes
	maxCertificates = 10       // of its chain
)

const typePayload = "application/vnd.cncf.notary.payload.v1+json"

// signed is a signature whose envelope was verified: its signer has the key of the first certificate. Whether that may be trusted is
// open.
type signed struct {
	*signature.SignerInfo
	digest string // of what is signed
}

// open reads an envelope and verifies it.
func open(p Proof) (signed, error) {
	if len(p.Envelope) == 0 || len(p.Envelope) > MaxEnvelope {
		return signed{}, fmt.Errorf("it has %d bytes, and may have %d", len(p.Envelope), MaxEnvelope)
	}
	if err := bounded(p); err != nil {
		return signed{}, err
	}
	envelope, err := signature.ParseEnvelope(p.MediaType, p.Envelope)
	if err != nil {
		return signed{}, errEnvelope
	}
	content, err := envelope.Verify()
	if err != nil {
		return signed{}, fmt.Errorf("its envelope does not verify: %w", err)
	}
	if content.Payload.ContentType != typePayload {
		return signed{}, errors.New("what it signs is no artifact")
	}
	var payload struct {
		Target struct {
			Digest string `json:"digest"`
		} `json:"targetArtifact"`
	}
	if strict.Decode(content.Payload.Content, &payload, strict.Foreign) != nil || payload.Target.Digest == "" {
		return signed{}, errors.New("what it signs cannot be read")
	}
	return signed{&content.SignerInfo, payload.Target.Digest}, nil
}

var errEnvelope = errors.New("it is no envelope of a known kind, JWS or COSE")

// bounded looks at the certificates of an envelope, as the library reads them, before anything is verified with them.
func bounded(p Proof) error {
	var chain [][]byte
	switch p.MediaType {
	case jws.MediaTypeEnvelope:
		var in struct {
			Header struct {
				Chain [][]byte `json:"x5c"`
			} `json:"header"`
		}
		if strict.Decode(p.Envelope, &in, strict.Unknown) != nil { // names in other letters are refused: the library reads them
			return errEnvelope
		}
		chain = in.Header.Chain
	case envelopecose.MediaTypeEnvelope:
		var in cose.Sign1Message
		if in.UnmarshalCBOR(p.Envelope) != nil {
			return errEnvelope
		}
		list, _ := in.Headers.Unprotected[cose.HeaderLabelX5Chain].([]any)
		for _, one := range list {
			raw, ok := one.([]byte)
			if !ok {
				return errEnvelope
			}
			chain = append(chain, raw)
		}
	default:
		return errEnvelope
	}
	if len(chain) == 0 || len(chain) > maxCertificates {
		return fmt.Errorf("it has %d certificates, and may have %d", len(chain), maxCertificates)
	}
	for _, raw := range chain {
		cert, err := x509.ParseCertificate(raw)
		if err != nil {
			return errors.New("a certificate of it cannot be read")
		}
		if err := measured(cert); err != nil {
			return err
		}
	}
	return nil
}

// critical names an attribute that a verifier must know and this one does not; "" for none.
func (s signed) critical() string {
	for _, a := range s.SignedAttributes.ExtendedAttributes {
		if a.Critical {
			return fmt.Sprint(a.Key)
		}
	}
	return ""
}
