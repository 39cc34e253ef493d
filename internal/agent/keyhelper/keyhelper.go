// Package keyhelper opens data keys of SOPS with a program of the administrator: it asks the key service of a cloud, for which the
// agent has no client. The program is started for each key, with one request on its standard input.
package keyhelper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/sandbox"
	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of a program.
const (
	limit     = 20 * time.Second // for one answer
	maxAnswer = 64 << 10         // bytes
	maxWords  = 300              // bytes of its own words that are shown
	atATime   = 4                // programs that run
)

// Helper runs the program. It is safe for concurrent use.
type Helper struct {
	path  string
	env   []string
	place chan struct{}
}

var _ sops.Opener = (*Helper)(nil)

// New checks that a program can be used; "" is none, and gives nil. The program gets PATH, HOME and the variables that are named in
// keep, and no other one.
func New(path string, keep []string) (*Helper, error) {
	if path == "" {
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the program %s is no absolute path: give one", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("find the program that opens data keys: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return nil, fmt.Errorf("%s cannot be executed: give the path of a program", path)
	}
	h := &Helper{path: path, place: make(chan struct{}, atATime)}
	for _, name := range append([]string{"PATH", "HOME"}, keep...) {
		if value, set := os.LookupEnv(name); set {
			h.env = append(h.env, name+"="+value)
		}
	}
	return h, nil
}

// request is what the program reads.
type request struct {
	Version int            `json:"version"`
	Key     sops.Recipient `json:"key"`
}

// answer is what it writes.
type answer struct {
	DataKey []byte `json:"dataKey"` // in base64
	Error   string `json:"error"`   // why it did not open the key; shown to users
}

// kinds are those of the key services that a program can be asked for.
func kinds() []string {
	return []string{sops.KindAWS, sops.KindGCP, sops.KindAzure, sops.KindVault, sops.KindHC}
}

// OpenKey asks the program. A key that is of no key service is none of its.
func (h *Helper) OpenKey(ctx context.Context, key sops.Recipient) ([]byte, error) {
	if h == nil || !slices.Contains(kinds(), key.Kind) {
		return nil, sops.ErrNoKey
	}
	select {
	case h.place <- struct{}{}:
		defer func() { <-h.place }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	in, err := json.Marshal(request{Version: 1, Key: key})
	if err != nil {
		return nil, fmt.Errorf("ask for the data key of %s: %w", key, err)
	}
	out, err := sandbox.Program{Path: h.path, Env: h.env, Stdin: in, Output: maxAnswer}.Run(ctx)
	defer clear(out)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the program that opens data keys gave no answer for %s in %s", key, limit)
	case errors.Is(err, sandbox.ErrOutput):
		return nil, fmt.Errorf("the program that opens data keys wrote more than %d KiB for %s", maxAnswer>>10, key)
	}
	var a answer
	if decoded := strict.Decode(out, &a, strict.Unknown); decoded != nil {
		return nil, errors.Join(fmt.Errorf("the program that opens data keys wrote no answer for %s", key), err)
	}
	switch {
	case a.Error != "":
		return nil, fmt.Errorf("%s: %s", key, legible.Line(a.Error, maxWords))
	case err != nil:
		return nil, fmt.Errorf("the program that opens data keys failed for %s: %w", key, err)
	case len(a.DataKey) == 0:
		return nil, fmt.Errorf("the program that opens data keys gave no key for %s", key)
	}
	return a.DataKey, nil
}
