package gateway

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// TokenPrefix is what one-time tokens of agents begin with, so that people and scanners recognize them.
const TokenPrefix = "sla_"

const registerTimeout = 10 * time.Second

// NewToken returns a one-time token and its hash, which is what the store keeps.
func NewToken() (token, hash string) {
	token = TokenPrefix + randomText(32)
	return token, TokenHash(token)
}

// TokenHash returns the hash that a one-time token is known by. A token is random and long: no salt is needed.
func TokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// NewUID returns a random uid for an agent.
func NewUID() string { return randomText(16) }

// newID returns a random id for a command or a stream.
func newID() string { return randomText(16) }

// randomText returns n random bytes in base32, lower case.
func randomText(n int) string {
	data := make([]byte, n)
	_, _ = rand.Read(data) // never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(data))
}

// LoadKey reads the server's key from a file, and makes one where there is no file. Agents take commands that are signed
// with it and no others: an operator who loses it must register all agents again.
func LoadKey(path string) (ed25519.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read key of the server: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != keyBlock || len(block.Bytes) != ed25519.SeedSize {
		return nil, fmt.Errorf("read key of the server: %s does not hold one: restore it from a backup", path)
	}
	return ed25519.NewKeyFromSeed(block.Bytes), nil
}

const keyBlock = "SLIPWAY SERVER KEY"

// makeKey writes a new key so that a crash leaves a whole one or none, and of two servers that start simultaneously both
// use the same.
func makeKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("make key of the server: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".key-*") // with mode 0600
	if err != nil {
		return nil, fmt.Errorf("write key of the server: %w", err)
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is linked to its name by then
	_, err = file.Write(pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key.Seed()}))
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return nil, fmt.Errorf("write key of the server: %w", err)
	}
	if err := os.Link(file.Name(), path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return LoadKey(path)
		}
		return nil, fmt.Errorf("write key of the server: %w", err)
	}
	return key, nil
}

// registrar identifies agents by their keys: it registers them, lets them connect, and rotates their keys.
type registrar struct {
	cfg      *Config
	lanes    *lanes
	conns    *connections
	arriving *arrivals
	presence *presence
	sessions *sessions
	monitor  *monitor
	peers    *Peers
	rate     *addressRate // of registrations from one address
}

// serveRegister makes an agent known that has a one-time token.
func (reg *registrar) serveRegister(w http.ResponseWriter, r *http.Request) {
	ip := reg.cfg.ClientIP(r)
	if !reg.rate.allow(ip) {
		w.Header().Set("Retry-After", "10")
		writeProblem(w, http.StatusTooManyRequests, "too many registrations from "+ip+": wait some seconds")
		return
	}
	var request agentapi.Registration
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, agentapi.MaxRegistration))
	if err == nil {
		err = strict.Decode(raw, &request, strict.Unknown)
	}
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			writeProblem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a registration has at most %d bytes", agentapi.MaxRegistration))
			return
		}
		writeProblem(w, http.StatusBadRequest, "the registration is no JSON of the expected shape")
		return
	}
	if err := checkRegistration(request); err != nil {
		writeProblem(w, http.StatusBadRequest, err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), registerTimeout)
	defer cancel()
	hash := TokenHash(request.Token)
	agent, err := reg.cfg.Agents.RegisterAgent(ctx, hash, Registration{
		PublicKey: request.PublicKey, SealKey: request.SealKey, ClusterUID: request.ClusterUID,
		Namespace: request.Namespace, Version: request.Version,
	}, reg.cfg.Now())
	again := false
	if errors.Is(err, ErrToken) {
		// The answer may have been lost: an agent with the same key gets the same answer again, and nothing changes.
		agent, err = reg.cfg.Agents.RegisteredWith(ctx, hash, request.PublicKey, reg.cfg.Now())
		again = err == nil
	}
	switch {
	case errors.Is(err, ErrToken):
		reg.cfg.Log.Warn("a registration was refused", "from", ip, "cluster", request.ClusterUID)
		writeProblem(w, http.StatusUnauthorized, ErrToken.Error()+": make a new one with slipway agent register")
		return
	case errors.Is(err, ErrKeyTaken):
		writeProblem(w, http.StatusConflict, ErrKeyTaken.Error()+": delete the agent's Secret with its key and start it again")
		return
	case err != nil:
		reg.cfg.Log.Error("register an agent", "from", ip, "error", err)
		writeProblem(w, http.StatusInternalServerError, "the server could not keep the registration: see its log")
		return
	}
	if !again {
		reg.registered(ctx, agent, ip, request)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(agentapi.Registered{ // the agent is gone: it asks again
		Agent: agent.ID, UID: agent.UID, Heartbeat: int(agentapi.HeartbeatInterval.Seconds()), ServerKey: reg.cfg.serverKey(),
		Engine: agent.Engine.Known(),
	})
}

// registered ends what was connected with the key before.
func (reg *registrar) registered(ctx context.Context, agent Agent, ip string, r agentapi.Registration) {
	reg.monitor.cut(agent.UID, "it was registered again")
	reg.peers.tell(peerNote{Type: noteCut, UID: agent.UID})
	reg.monitor.forgetLater(agent.UID)
	reg.lanes.must(agent.UID, func() { reg.presence.load(agent, time.Time{}) })
	reg.cfg.Audit.LinkEvent(ctx, LinkEvent{
		Type: LinkRegistered, UID: agent.UID, ID: agent.ID, Address: ip, At: reg.cfg.Now(),
		Message: fmt.Sprintf("agent %s of version %s, cluster %s, namespace %s", agent.ID, r.Version, r.ClusterUID, r.Namespace),
	})
	reg.cfg.Log.Info("agent registered", "agent", agent.ID, "uid", agent.UID, "from", ip, "cluster", r.ClusterUID)
	reg.cfg.Notify(Change{UID: agent.UID, Agent: true})
}

func checkRegistration(r agentapi.Registration) error {
	switch {
	case r.Token == "" || len(r.Token) > 256:
		return errors.New("the registration has no token")
	case !nkeys.IsValidPublicUserKey(r.PublicKey):
		return errors.New("the public key of the registration is no nkey of a user")
	case len(r.SealKey) != 32:
		return errors.New("the seal key of the registration must have 32 bytes")
	case !isName(r.ClusterUID) || !isName(r.Namespace) || r.Version != "" && !isName(r.Version):
		return errors.New("cluster, namespace and version of the registration must be short names")
	}
	key, err := nkeys.FromPublicKey(r.PublicKey)
	if err != nil || key.Verify(agentapi.RegistrationText(r), r.Signature) != nil {
		return errors.New("the registration is not signed with its public key")
	}
	return nil
}
