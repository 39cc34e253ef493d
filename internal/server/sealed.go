package server

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// sealedCommands keeps commands so that the database, its backups and what is left of deleted rows in its files do not show
// what was asked: a patch of a Secret or a manifest from a request may hold anything. The key follows from the server's
// own, which is not in the database.
type sealedCommands struct {
	gateway.Commands
	box cipher.AEAD
	log *slog.Logger
}

// sealedBody is what stands for a body in the database.
type sealedBody struct {
	Sealed []byte `json:"slipwaySealed"`
}

func sealCommands(commands gateway.Commands, key ed25519.PrivateKey, log *slog.Logger) (*sealedCommands, error) {
	derived, err := derive(key, "slipway bodies of commands v1")
	if err != nil {
		return nil, fmt.Errorf("make the key for commands: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("make the key for commands: %w", err)
	}
	box, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make the key for commands: %w", err)
	}
	return &sealedCommands{commands, box, log}, nil
}

// derive makes a key of 32 bytes for one purpose from the server's own, which is not in the database.
func derive(key ed25519.PrivateKey, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, key.Seed(), nil, purpose, sha256.Size)
}

// bound is what a sealed body belongs to: it counts for no other command.
func bound(c agentapi.Command) []byte { return []byte(c.Agent + " " + c.ID) }

// AddCommand seals the body.
func (s *sealedCommands) AddCommand(ctx context.Context, c gateway.Command) error {
	if len(c.Body) > 0 {
		raw, err := json.Marshal(sealedBody{s.box.Seal(nil, nil, c.Body, bound(c.Command))})
		if err != nil {
			return fmt.Errorf("seal command %s: %w", c.ID, err)
		}
		c.Body = raw
	}
	return s.Commands.AddCommand(ctx, c)
}

// OpenCommands opens the bodies. A command that cannot be opened is sent without one, and its agent refuses it.
func (s *sealedCommands) OpenCommands(ctx context.Context, uid string) ([]gateway.Command, error) {
	list, err := s.Commands.OpenCommands(ctx, uid)
	for i := range list {
		s.open(&list[i])
	}
	return list, err
}

// GetCommand opens the body.
func (s *sealedCommands) GetCommand(ctx context.Context, id string) (gateway.Command, error) {
	c, err := s.Commands.GetCommand(ctx, id)
	s.open(&c)
	return c, err
}

func (s *sealedCommands) open(c *gateway.Command) {
	var sealed sealedBody
	if len(c.Body) == 0 || strict.Decode(c.Body, &sealed, strict.Unknown) != nil || len(sealed.Sealed) == 0 {
		return // it was finished, or an earlier version kept it
	}
	body, err := s.box.Open(nil, nil, sealed.Sealed, bound(c.Command))
	if err != nil {
		err = errors.New("the key of this server does not open it: restore the data directory that belongs to the database")
		s.log.Error("read what was asked", "command", c.ID, "err", err)
		return // the agent knows no such body
	}
	c.Body = body
}
