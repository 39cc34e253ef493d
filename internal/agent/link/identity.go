package link

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/curve25519"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// SecretIdentity is the Secret in the agent's namespace with the agent's identity.
const SecretIdentity = "slipway-agent-identity"

// Keys of the Secret.
const (
	fieldSeed       = "seed"
	fieldNext       = "next-seed"
	fieldSeal       = "seal-key"
	fieldSealBefore = "seal-key-before"
	fieldAgent      = "agent"
	fieldUID        = "uid"
	fieldServer     = "server"
	fieldServerKey  = "server-key"
	fieldToken      = "token-sha256"
	fieldRecords    = "record-key"
	fieldEngine     = "engine"

	fieldTriedSeed  = "candidate-seed"
	fieldTriedSeal  = "candidate-seal-key"
	fieldTriedToken = "candidate-token-sha256"
)

// keySize is that of an X25519 key.
const keySize = 32

// SealKey is a key pair that secrets for this agent are sealed to. It hides itself when printed.
type SealKey struct{ Public, Private [keySize]byte }

// String hides the key.
func (SealKey) String() string { return "(seal key)" }

// GoString hides the key.
func (SealKey) GoString() string { return "(seal key)" }

// LogValue hides the key.
func (SealKey) LogValue() slog.Value { return slog.StringValue("(seal key)") }

// identity is the agent's identity. It hides itself when printed.
type identity struct {
	seed []byte    // of the nkey
	next []byte    // of the nkey that was announced and not used yet; nil for none
	seal []SealKey // newest first, at most two

	agent     string // "" before the registration
	uid       string
	server    string // URL that it registered at, for people
	serverKey []byte
	token     string // hash of the token that it registered with
	// engine is what the server created the agent for; "" if it has never named one.
	engine agentapi.Engine
	// records is what secret values are hashed with in what the server keeps of operations. It stays when the other keys
	// change, so that equal values of different years are seen as equal.
	records []byte
	// tried are the keys that an agent that is registered shows with another token; nil where it has none. Its token is the
	// hash of that one. They are kept until the server has answered, which takes the token with these keys only.
	tried *identity

	version string // of the Secret; "" when there is none yet
}

// String hides the keys.
func (i *identity) String() string { return "(identity of " + i.agent + ")" }

// GoString hides the keys.
func (i *identity) GoString() string { return i.String() }

// LogValue hides the keys.
func (i *identity) LogValue() slog.Value { return slog.StringValue(i.String()) }

func (i *identity) registered() bool { return i.uid != "" }

// copy returns an identity that can be changed.
func (i *identity) copy() *identity {
	out := *i
	out.seal = append([]SealKey(nil), i.seal...)
	return &out
}

// newIdentity makes the keys of an agent that is not registered yet.
func newIdentity() (*identity, error) {
	seed, err := newSeed()
	if err != nil {
		return nil, err
	}
	seal, err := newSealKey()
	if err != nil {
		return nil, err
	}
	return &identity{seed: seed, seal: []SealKey{seal}, records: recordKey(seal)}, nil
}

// recordKey is the key for records of an agent that has none yet.
func recordKey(seal SealKey) []byte {
	h := hmac.New(sha256.New, seal.Private[:])
	_, _ = h.Write([]byte("slipway records of operations v1"))
	return h.Sum(nil)
}

func newSeed() ([]byte, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	defer pair.Wipe() // of what Seed returns too
	seed, err := pair.Seed()
	return slices.Clone(seed), err
}

func newSealKey() (SealKey, error) {
	var private [keySize]byte
	if _, err := rand.Read(private[:]); err != nil {
		return SealKey{}, fmt.Errorf("make a key: %w", err)
	}
	return sealKeyOf(private[:])
}

// sealKeyOf finds the public half of a key.
func sealKeyOf(private []byte) (SealKey, error) {
	var k SealKey
	if len(private) != keySize {
		return k, fmt.Errorf("a seal key has %d bytes and needs %d", len(private), keySize)
	}
	public, err := curve25519.X25519(private, curve25519.Basepoint)
	if err != nil {
		return k, fmt.Errorf("read a seal key: %w", err)
	}
	copy(k.Private[:], private)
	copy(k.Public[:], public)
	return k, nil
}

// signer returns the key pair of a seed.
func signer(seed []byte) (nkeys.KeyPair, error) {
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("read the key of Secret %s: %w: delete the Secret and register the agent again", SecretIdentity, err)
	}
	return pair, nil
}

// publicKey returns the public half of a seed.
func publicKey(seed []byte) (string, error) {
	pair, err := signer(seed)
	if err != nil {
		return "", err
	}
	defer pair.Wipe()
	return pair.PublicKey()
}

// sign signs a text with a seed.
func sign(seed, text []byte) ([]byte, error) {
	pair, err := signer(seed)
	if err != nil {
		return nil, err
	}
	defer pair.Wipe()
	return pair.Sign(text)
}

// tokenHash is how a token is remembered.
func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// identityStore keeps the identity in a Secret.
type identityStore struct{ secrets typed.SecretInterface }

// load reads the identity; nil when there is none.
func (s *identityStore) load(ctx context.Context) (*identity, error) {
	secret, err := s.secrets.Get(ctx, SecretIdentity, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", SecretIdentity, err)
	}
	return decodeIdentity(secret)
}

func decodeIdentity(secret *corev1.Secret) (*identity, error) {
	d := secret.Data
	id := &identity{
		seed: d[fieldSeed], next: d[fieldNext], agent: string(d[fieldAgent]), uid: string(d[fieldUID]), server: string(d[fieldServer]),
		serverKey: d[fieldServerKey], token: string(d[fieldToken]), version: secret.ResourceVersion,
		engine: agentapi.Engine(d[fieldEngine]),
	}
	if _, err := publicKey(id.seed); err != nil {
		return nil, err
	}
	for _, field := range []string{fieldSeal, fieldSealBefore} {
		if len(d[field]) == 0 {
			continue
		}
		key, err := sealKeyOf(d[field])
		if err != nil {
			return nil, fmt.Errorf("Secret %s, %s: %w: delete the Secret and register the agent again", SecretIdentity, field, err)
		}
		id.seal = append(id.seal, key)
	}
	if len(id.seal) == 0 {
		return nil, fmt.Errorf("Secret %s has no %s: delete the Secret and register the agent again", SecretIdentity, fieldSeal)
	}
	// What cannot be read of these is made again.
	if seal, err := sealKeyOf(d[fieldTriedSeal]); err == nil {
		if _, err := publicKey(d[fieldTriedSeed]); err == nil {
			id.tried = &identity{seed: d[fieldTriedSeed], seal: []SealKey{seal}, token: string(d[fieldTriedToken])}
		}
	}
	if id.records = d[fieldRecords]; len(id.records) < sha256.Size {
		id.records = recordKey(id.seal[0]) // and is written with the next change
	}
	return id, nil
}

// errRaced means that another process wrote the identity in the meantime.
var errRaced = errors.New("the identity was written by another agent at the same time")

// encode is the Secret of an identity.
func (i *identity) encode() *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: SecretIdentity, ResourceVersion: i.version, Labels: map[string]string{"app.kubernetes.io/part-of": "slipway"},
		},
		Data: map[string][]byte{
			fieldSeed: i.seed, fieldSeal: i.seal[0].Private[:], fieldAgent: []byte(i.agent), fieldUID: []byte(i.uid),
			fieldServer: []byte(i.server), fieldServerKey: i.serverKey, fieldToken: []byte(i.token),
			fieldRecords: i.records, fieldEngine: []byte(i.engine),
		},
	}
	if len(i.next) > 0 {
		secret.Data[fieldNext] = i.next
	}
	if len(i.seal) > 1 {
		secret.Data[fieldSealBefore] = i.seal[1].Private[:]
	}
	if i.tried != nil {
		secret.Data[fieldTriedSeed], secret.Data[fieldTriedSeal] = i.tried.seed, i.tried.seal[0].Private[:]
		secret.Data[fieldTriedToken] = []byte(i.tried.token)
	}
	return secret
}

// save writes the identity, if the Secret still is what was read.
func (s *identityStore) save(ctx context.Context, id *identity) error {
	secret := id.encode()
	var saved *corev1.Secret
	var err error
	if id.version == "" {
		saved, err = s.secrets.Create(ctx, secret, metav1.CreateOptions{})
	} else {
		saved, err = s.secrets.Update(ctx, secret, metav1.UpdateOptions{})
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return errRaced
	case err != nil:
		return fmt.Errorf("write Secret %s: %w: the agent needs create and update on Secrets of its namespace", SecretIdentity, err)
	}
	id.version = saved.ResourceVersion
	return nil
}
