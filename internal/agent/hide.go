package agent

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/slipway-gitops/slipway/internal/agent/veil"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// hide gives a value, such as a status, without what was decrypted.
func hide[T any](v *veil.Veil, value T) T {
	if v.Empty() {
		return value
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return value // it cannot be written either
	}
	clean := v.Document(raw)
	if bytes.Equal(raw, clean) {
		return value
	}
	var out T
	if strict.Decode(clean, &out, strict.Unknown) != nil {
		return *new(T) // what cannot be cleaned is not shown
	}
	return out
}

// hidden gives a result whose error says nothing of what was decrypted.
func (a *turner) hidden(res engine.Result) engine.Result {
	if res.Err != nil {
		clean := *res.Err
		clean.Err = a.veil.Error(clean.Err)
		res.Err = &clean
	}
	return res
}

// veiled is a renderer whose errors say nothing of what was decrypted.
type veiled struct {
	*memo.Memo
	veil *veil.Veil
}

// Render renders.
func (r veiled) Render(ctx context.Context, req render.Request, scope string) (render.Result, bool, error) {
	res, hit, err := r.Memo.Render(ctx, req, scope)
	return res, hit, r.veil.Error(err)
}
