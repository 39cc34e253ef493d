package sigstore

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/digitorus/timestamp"
)

// nameOfEntry is what the log calls its entry.
const nameOfEntry = "24296fb24b8ad77a0000000000000000000000000000000000000000000000000000000000000000"

// maxBody is how long a request may be.
const maxBody = 1 << 20

// Handler serves what a real client signs with: authority, log and timestamps. It believes every identity token.
func (s *Sigstore) Handler() http.Handler {
	mux := http.NewServeMux()
	serve := func(path, kind string, status int, answer func(*http.Request, []byte) ([]byte, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if err == nil {
				body, err = answer(r, body)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("ETag", nameOfEntry) // the client of the log takes the entry of this name
			w.WriteHeader(status)
			_, _ = w.Write(body) // a client that left needs no answer
		})
	}
	serve("/api/v2/signingCert", "application/json", http.StatusOK, s.serveCertificate)
	serve("/api/v1/signingCert", "application/pem-certificate-chain", http.StatusCreated, s.serveChain)
	serve("/api/v1/log/entries", "application/json", http.StatusCreated, s.serveEntry)
	serve("/api/v1/timestamp", "application/timestamp-reply", http.StatusCreated, s.serveTimestamp)
	return mux
}

// claims are those of an identity token.
type claims struct {
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
}

// Token is an identity token for a signer, which no provider signed.
func (s *Sigstore) Token(who Signer) string {
	s.t.Helper()
	part := func(doc any) string { return base64.RawURLEncoding.EncodeToString(s.json(doc)) }
	now := time.Now()
	return part(object{"alg": "RS256"}) + "." + part(object{
		"iss": who.Issuer, "sub": who.Subjects[0], "aud": "sigstore", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}) + "." + part("unsigned")
}

func (s *Sigstore) certifyRequest(r *http.Request, key string) (string, error) {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("there is no identity token")
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", err
	}
	var who claims
	if err := json.Unmarshal(raw, &who); err != nil {
		return "", err
	}
	der := []byte(key)
	if block, _ := pem.Decode(der); block != nil {
		der = block.Bytes
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return "", err
	}
	signer := Signer{Subjects: []string{who.Subject}, Issuer: who.Issuer}
	cert := s.Certificate(signer, public, time.Now().Truncate(time.Second), 10*time.Minute)
	return string(inPEM(cert)), nil
}

func (s *Sigstore) serveCertificate(r *http.Request, body []byte) ([]byte, error) {
	var in struct {
		Request struct {
			Key struct {
				Content string `json:"content"`
			} `json:"publicKey"`
		} `json:"publicKeyRequest"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	leaf, err := s.certifyRequest(r, in.Request.Key.Content)
	if err != nil {
		return nil, err
	}
	return s.json(object{"signedCertificateEmbeddedSct": object{"chain": object{
		"certificates": []any{leaf, string(inPEM(s.middle)), string(inPEM(s.root))},
	}}}), nil
}

// serveChain is the answer of an older version of the service.
func (s *Sigstore) serveChain(r *http.Request, body []byte) ([]byte, error) {
	var in struct {
		Key struct {
			Content []byte `json:"content"`
		} `json:"publicKey"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	leaf, err := s.certifyRequest(r, string(in.Key.Content))
	if err != nil {
		return nil, err
	}
	return []byte(leaf + string(inPEM(s.middle)) + string(inPEM(s.root))), nil
}

// proposed is an entry that a client proposes for the log.
type proposed struct {
	Kind string         `json:"kind"`
	Spec map[string]any `json:"spec"`
}

func (s *Sigstore) serveEntry(_ *http.Request, body []byte) ([]byte, error) {
	var in proposed
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	var entered []byte
	switch in.Kind {
	case "hashedrekord":
		entered = s.json(object{"apiVersion": "0.0.1", "kind": in.Kind, "spec": in.Spec})
	case "dsse":
		var err error
		if entered, err = s.enveloped(body); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("kind %q is not known", in.Kind)
	}
	e := s.Log(entered, time.Now())
	return s.json(object{nameOfEntry: object{
		"body": encoded(e.Body), "integratedTime": e.Time.Unix(), "logID": hex.EncodeToString(e.ID), "logIndex": indexOfEntry,
		"verification": object{"signedEntryTimestamp": e.Promise, "inclusionProof": object{
			"checkpoint": e.Checkpoint, "hashes": []any{hex.EncodeToString(e.Other)}, "logIndex": indexOfEntry,
			"rootHash": hex.EncodeToString(e.Hash), "treeSize": 2,
		}},
	}}), nil
}

// enveloped is the entry of an envelope that a client proposes.
func (s *Sigstore) enveloped(body []byte) ([]byte, error) {
	var in struct {
		Spec struct {
			Content struct {
				Envelope  string   `json:"envelope"`
				Verifiers [][]byte `json:"verifiers"`
			} `json:"proposedContent"`
		} `json:"spec"`
	}
	var envelope struct {
		Payload    []byte `json:"payload"`
		Signatures []struct {
			Signature []byte `json:"sig"`
		} `json:"signatures"`
	}
	err := json.Unmarshal(body, &in)
	if err == nil {
		err = json.Unmarshal([]byte(in.Spec.Content.Envelope), &envelope)
	}
	if err != nil || len(envelope.Signatures) != 1 || len(in.Spec.Content.Verifiers) != 1 {
		return nil, fmt.Errorf("it has not one signature and one certificate: %w", err)
	}
	return s.dsse(envelope.Payload, envelope.Signatures[0].Signature, in.Spec.Content.Verifiers[0]), nil
}

func (s *Sigstore) serveTimestamp(_ *http.Request, body []byte) ([]byte, error) {
	asked, err := timestamp.ParseRequest(body)
	if err != nil {
		return nil, err
	}
	if asked.HashAlgorithm != crypto.SHA256 {
		return nil, errors.New("only SHA-256 is known")
	}
	return s.Stamped(timestamp.Timestamp{
		HashAlgorithm: asked.HashAlgorithm, HashedMessage: asked.HashedMessage, Time: time.Now(), Nonce: asked.Nonce, AddTSACertificate: true,
	}), nil
}
