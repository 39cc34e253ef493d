package cosign

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	maxPayload  = 1 << 20
	maxSubjects = 100

	typeSimple    = "cosign container image signature"
	typeInToto    = "application/vnd.in-toto+json"
	predicateSign = "https://sigstore.dev/cosign/sign/v1"
	bundlePrefix  = "application/vnd.dev.sigstore.bundle"
)

// claim is what a signature says: that these digests are signed.
type claim struct {
	digests            []string
	message, signature []byte
}

// simple is what a signature of the older kind is of.
type simple struct {
	Critical struct {
		Type  string `json:"type"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
	} `json:"critical"`
}

// enveloped is a signature of the newer kind: an envelope, and what may be known of its key.
type enveloped struct {
	MediaType string    `json:"mediaType"`
	Envelope  *envelope `json:"dsseEnvelope"`
}

type envelope struct {
	Type       string `json:"payloadType"`
	Payload    string `json:"payload"`
	Signatures []struct {
		Signature string `json:"sig"`
	} `json:"signatures"`
}

// statement is the payload of an envelope.
type statement struct {
	Type      string `json:"_type"`
	Predicate string `json:"predicateType"`
	Subject   []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
}

// read reads a proof; ok says that it is a signature of an artifact. Statements about an artifact, such as lists of its parts, are none.
func read(p Proof) (c claim, ok bool) {
	if len(p.Payload) > maxPayload {
		return c, false
	}
	if p.Signature == "" {
		return readBundle(p.Payload)
	}
	var text simple
	if strict.Decode(p.Payload, &text, strict.Foreign) != nil || text.Critical.Type != typeSimple {
		return c, false
	}
	signature, err := base64.StdEncoding.DecodeString(p.Signature)
	return claim{digests: []string{text.Critical.Image.Digest}, message: p.Payload, signature: signature}, err == nil
}

func readBundle(raw []byte) (c claim, ok bool) {
	var b enveloped
	if strict.Decode(raw, &b, strict.Foreign) != nil || !strings.HasPrefix(b.MediaType, bundlePrefix) || b.Envelope == nil ||
		b.Envelope.Type != typeInToto || len(b.Envelope.Signatures) != 1 {
		return c, false
	}
	payload, err := base64.StdEncoding.DecodeString(b.Envelope.Payload)
	if err != nil {
		return c, false
	}
	var s statement
	if strict.Decode(payload, &s, strict.Foreign) != nil || !strings.HasPrefix(s.Type, "https://in-toto.io/Statement/") ||
		s.Predicate != predicateSign || len(s.Subject) > maxSubjects {
		return c, false
	}
	for _, subject := range s.Subject {
		for algorithm, digits := range subject.Digest {
			c.digests = append(c.digests, algorithm+":"+digits)
		}
	}
	c.message = authenticated(b.Envelope.Type, payload)
	c.signature, err = base64.StdEncoding.DecodeString(b.Envelope.Signatures[0].Signature)
	return c, err == nil
}

// authenticated is what the signature of an envelope is made of: type and payload with their lengths (DSSE).
func authenticated(kind string, payload []byte) []byte {
	head := "DSSEv1 " + strconv.Itoa(len(kind)) + " " + kind + " " + strconv.Itoa(len(payload)) + " "
	return append([]byte(head), payload...)
}
