package agentapi

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// Signed is a Command or a Chunk to the agent, with the server's signature. TLS ends at proxies that look inside, and
// with several servers messages take more hops: what an agent acts upon was signed by the key that it registered with.
type Signed struct {
	// Payload is the message as JSON.
	Payload []byte `json:"payload"`
	// Signature is that of the payload, with what it is and whom it is for before it.
	Signature []byte `json:"signature"`
}

// Purpose is what a signature is for, so that none counts for something else.
type Purpose string

// The purposes of signatures by the server.
const (
	PurposeCommand Purpose = "command"
	PurposeStream  Purpose = "stream"
)

// Sign writes a message for one agent and signs it.
func Sign(key ed25519.PrivateKey, purpose Purpose, uid string, message any) ([]byte, error) {
	payload, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("write %s for agent %s: %w", purpose, uid, err)
	}
	if len(key) != ed25519.PrivateKeySize {
		return nil, errors.New("the key of the server has the wrong length")
	}
	return json.Marshal(Signed{Payload: payload, Signature: ed25519.Sign(key, signedText(purpose, uid, payload))})
}

// Open reads a message that came down for the agent uid into message, a *Command or a *Chunk, if key signed it.
func Open(key ed25519.PublicKey, purpose Purpose, uid string, data []byte, message any) error {
	if len(data) > MaxMessage {
		return fmt.Errorf("a %s of %d bytes came from the server, more than %d", purpose, len(data), MaxMessage)
	}
	var signed Signed
	if err := strict.Decode(data, &signed, strict.Unknown); err != nil {
		return fmt.Errorf("read %s: %w", purpose, err)
	}
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, signedText(purpose, uid, signed.Payload), signed.Signature) {
		return &Error{Code: CodeSignature, Message: "a " + string(purpose) + " is not signed by the server that this agent registered with"}
	}
	if err := strict.Decode(signed.Payload, message, strict.Unknown, strict.Envelope); err != nil {
		return fmt.Errorf("read %s: %w", purpose, err)
	}
	return nil
}

func signedText(purpose Purpose, uid string, payload []byte) []byte {
	return append([]byte("slipway "+string(purpose)+" v1\n"+uid+"\n"), payload...)
}

// RegistrationText is what an agent signs with its key to register it.
func RegistrationText(r Registration) []byte {
	lines := []string{"slipway register v1", r.Token, r.PublicKey, fmt.Sprintf("%x", r.SealKey), r.ClusterUID, r.Namespace}
	return []byte(strings.Join(lines, "\n"))
}

// RotationText is what an agent signs, with its present key and with the next, to announce the next in one session: a rotation
// that was recorded, and that the agent gave up, announces nothing in a later one.
func RotationText(uid string, epoch int64, publicKey string) []byte {
	return fmt.Appendf(nil, "slipway rotate v2\n%s\n%d\n%s", uid, epoch, publicKey)
}
