package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"
)

// body is the content of an answer, which ends after so many bytes and where nothing arrives for a while.
type body struct {
	ctx    context.Context //nolint:containedctx // of the request, which ends with the body
	cancel context.CancelCauseFunc
	at     *url.URL
	from   io.ReadCloser
	idle   time.Duration
	timer  *time.Timer
	most   int64
	left   int64
}

func newBody(ctx context.Context, cancel context.CancelCauseFunc, at *url.URL, from io.ReadCloser, o Options) *body {
	b := &body{
		ctx: ctx, cancel: cancel, at: at, from: from, idle: o.Idle, most: o.Bytes, left: o.Bytes,
		timer: time.AfterFunc(o.Idle, func() { cancel(errIdle) }),
	}
	b.timer.Stop()
	return b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(b.idle)
	n, err := b.from.Read(p)
	b.timer.Stop() // how long the reader takes is not the server's matter
	if b.left -= int64(n); b.left < 0 {
		return 0, TooLarge(b.at, b.most)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, explain(b.ctx, b.at, err)
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.timer.Stop()
	err := b.from.Close()
	b.cancel(nil)
	return err
}

// TooLarge is the error for an answer of more than most bytes.
func TooLarge(at *url.URL, most int64) error {
	return &Error{Kind: ErrTooLarge, URL: Shown(at), Detail: fmt.Sprintf("which is %d MiB", most>>20), Hint: "make it smaller"}
}
