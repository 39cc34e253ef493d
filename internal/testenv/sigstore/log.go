package sigstore

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/digitorus/timestamp"
)

// Entry is what the transparency log answered about a signature.
type Entry struct {
	Body       []byte
	ID         []byte // of the log
	Time       time.Time
	Promise    []byte // signed entry timestamp
	Other      []byte // hash of the other entry of the log
	Hash       []byte // of both
	Checkpoint string
}

const indexOfEntry = 1 // the other one is before it

// Log enters what is signed.
func (s *Sigstore) Log(body []byte, at time.Time) Entry {
	s.t.Helper()
	_, id := s.public(s.log)
	e := s.entered(body, "rekor.example - 1")
	e.Time = at
	e.Promise = s.sign(s.log, s.json(object{
		"body": encoded(body), "integratedTime": at.Unix(), "logID": hex.EncodeToString(id), "logIndex": indexOfEntry,
	}))
	return e
}

// entered puts an entry into a log with another one, and signs the checkpoint of both.
func (s *Sigstore) entered(body []byte, origin string) Entry {
	s.t.Helper()
	_, id := s.public(s.log)
	e := Entry{Body: body, ID: id}
	other, leaf := sha256.Sum256([]byte("\x00before")), sha256.Sum256(append([]byte{0}, body...))
	both := sha256.Sum256(append(append([]byte{1}, other[:]...), leaf[:]...))
	e.Other, e.Hash = other[:], both[:]
	text := fmt.Sprintf("%s\n2\n%s\n", origin, encoded(both[:]))
	e.Checkpoint = text + fmt.Sprintf("\n\u2014 rekor.example %s\n", encoded(append(id[:4:4], s.sign(s.log, []byte(text))...)))
	return e
}

// bundled is the entry in a bundle.
func (e Entry) bundled(kind string) object {
	index := strconv.Itoa(indexOfEntry)
	return object{
		"logIndex": index, "logId": object{"keyId": e.ID}, "kindVersion": object{"kind": kind, "version": "0.0.1"},
		"integratedTime": strconv.FormatInt(e.Time.Unix(), 10), "inclusionPromise": object{"signedEntryTimestamp": e.Promise},
		"inclusionProof": object{
			"logIndex": index, "treeSize": "2", "rootHash": e.Hash, "hashes": []any{e.Other}, "checkpoint": object{"envelope": e.Checkpoint},
		},
		"canonicalizedBody": e.Body,
	}
}

// second is what a log of the second version has of a signature: it promises nothing, and knows no time.
func (s *Sigstore) second(text, signature, certificate []byte) object {
	sum := sha256.Sum256(text)
	entry := s.entered(s.json(object{"apiVersion": "0.0.2", "kind": "hashedrekord", "spec": object{"hashedRekordV002": object{
		"data": object{"algorithm": "SHA2_256", "digest": sum[:]},
		"signature": object{"content": signature, "verifier": object{
			"keyDetails": "PKIX_ECDSA_P256_SHA_256", "x509Certificate": object{"rawBytes": certificate},
		}},
	}}}), "rekor.example").bundled("hashedrekord")
	entry["kindVersion"] = object{"kind": "hashedrekord", "version": "0.0.2"}
	delete(entry, "inclusionPromise")
	delete(entry, "integratedTime")
	return entry
}

// annotated is the entry in an annotation.
func (e Entry) annotated() object {
	return object{"SignedEntryTimestamp": e.Promise, "Payload": object{
		"body": encoded(e.Body), "integratedTime": e.Time.Unix(), "logIndex": indexOfEntry, "logID": hex.EncodeToString(e.ID),
	}}
}

// Stamp is the answer of the timestamp authority about a signature.
func (s *Sigstore) Stamp(signature []byte, at time.Time) []byte {
	s.t.Helper()
	sum := sha256.Sum256(signature)
	return s.Stamped(timestamp.Timestamp{HashAlgorithm: crypto.SHA256, HashedMessage: sum[:], Time: at, AddTSACertificate: true})
}

// Stamped completes and signs an answer of the timestamp authority.
func (s *Sigstore) Stamped(answer timestamp.Timestamp) []byte {
	s.t.Helper()
	answer.Policy, answer.SerialNumber = asn1.ObjectIdentifier{1, 2, 3, 4}, serial()
	raw, err := answer.CreateResponseWithOpts(s.stamper, s.times, crypto.SHA256)
	s.must(err)
	return raw
}

// certified is the extension with the proof of the log that it has a certificate: a signature of all of it but this extension.
func (s *Sigstore) certified(cert *x509.Certificate, at time.Time) pkix.Extension {
	s.t.Helper()
	_, id := s.public(s.certs)
	issuer := sha256.Sum256(s.middle.RawSubjectPublicKeyInfo)
	millis := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli())) //nolint:gosec // it is after 1970
	tbs := cert.RawTBSCertificate
	signed := append([]byte{0, 0}, millis...)
	signed = append(append(signed, 0, 1), issuer[:]...)
	signed = append(signed, byte(len(tbs)>>16), byte(len(tbs)>>8), byte(len(tbs))) //nolint:gosec // a certificate is short
	signed = append(append(signed, tbs...), 0, 0)
	signature := s.sign(s.certs, signed)
	proof := append(append([]byte{0}, id...), millis...)
	proof = append(proof, 0, 0, 4, 3, 0, byte(len(signature))) //nolint:gosec // some 70 bytes
	proof = append(proof, signature...)
	list := []byte{0, byte(len(proof) + 2), 0, byte(len(proof))} //nolint:gosec // some 120 bytes
	value, err := asn1.Marshal(append(list, proof...))
	s.must(err)
	return pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}, Value: value}
}
