package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/setting"
)

// keeper is the store under the names of the interface.
type keeper struct {
	*store.Store
	dir string // the data directory

	mu      sync.Mutex
	probed  time.Time
	failure error // of the probe
}

const (
	// probeEvery is how old the last proof may be that the disks take writes: frequent requests cause no more writes.
	probeEvery = 10 * time.Second
	probeTime  = 5 * time.Second
	// probeFile is written in the data directory.
	probeFile = ".write-probe"
)

// Ping says that the database answers, and that it and the data directory take writes: with a full disk nothing works that
// keeps something.
func (k *keeper) Ping(ctx context.Context) error {
	if err := k.Store.Ping(ctx); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := time.Now(); now.Sub(k.probed) >= probeEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
		defer cancel()
		k.failure, k.probed = k.probe(ctx), now
	}
	return k.failure
}

func (k *keeper) probe(ctx context.Context) error {
	now := time.Now()
	_, err := k.Attempt(ctx, probeFile, func(authn.Attempt) authn.Attempt { return authn.Attempt{LastAt: now} })
	if err != nil {
		return fmt.Errorf("write to the database: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(k.dir, probeFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(now.UTC().Format(time.RFC3339) + "\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("write to the data directory: %w", err)
	}
	return nil
}

// Claim takes an idempotency key, or gives what was kept for it.
func (k *keeper) Claim(ctx context.Context, key, fingerprint string, until time.Time) (*core.Kept, error) {
	kept, err := k.Store.Claim(ctx, key, fingerprint, until)
	if err != nil || kept == nil {
		return nil, err
	}
	return (*core.Kept)(kept), nil
}

// Keep keeps an answer.
func (k *keeper) Keep(ctx context.Context, key string, answer core.Kept) error {
	return k.Store.Keep(ctx, key, setting.Kept(answer))
}
