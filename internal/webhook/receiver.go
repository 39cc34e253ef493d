package webhook

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

const (
	defaultMaxBytes = 10 << 20
	maxBodies       = 4                // read at one time: bounds memory to maxBodies times MaxBytes
	bodyTimeout     = 20 * time.Second // a slow sender must not keep a place for ever
)

// Config is what a Receiver needs.
type Config struct {
	Secrets func() Secrets // called for every delivery, so that changed secrets apply immediately
	Notify  func(Event)    // called for every event that is not Ignored; must not block
	// AllowUnsigned accepts deliveries of a sender for which no secret is configured, as Argo CD does. They can make
	// us look at repositories that we follow anyway, and nothing else.
	AllowUnsigned bool
	MaxBytes      int64 // of a body; default 10 MiB
	Log           *slog.Logger
}

// Receiver is the HTTP handler of deliveries. It answers 200 to what it took or ignores, 400 to what it cannot read,
// 401 to what is not signed as it must be, and 405 to anything but POST.
type Receiver struct {
	cfg    Config
	places chan struct{}
}

var _ http.Handler = (*Receiver)(nil)

// NewReceiver makes a Receiver of cfg.
func NewReceiver(cfg Config) *Receiver {
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = defaultMaxBytes
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Receiver{cfg: cfg, places: make(chan struct{}, maxBodies)}
}

// ServeHTTP takes one delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("webhook handler crashed", "err", fmt.Sprint(p), "stack", string(debug.Stack()))
			http.Error(w, "Webhook processing failed", http.StatusInternalServerError)
		}
	}()
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Webhook processing failed", http.StatusMethodNotAllowed)
		return
	}
	events, err := r.take(w, req)
	switch {
	case err == nil:
	case errors.Is(err, ErrUnknown):
		http.Error(w, "Unknown webhook event", http.StatusBadRequest)
		return
	case errors.Is(err, ErrRefused):
		r.cfg.Log.Warn("webhook refused", "err", err)
		http.Error(w, "Webhook processing failed: signature or token is missing or wrong", http.StatusUnauthorized)
		return
	default:
		r.cfg.Log.Info("webhook not read", "err", err)
		http.Error(w, "Webhook processing failed: payload must be valid JSON under "+size(r.cfg.MaxBytes), http.StatusBadRequest)
		return
	}
	for _, e := range events {
		if e.Kind != Ignored {
			r.cfg.Notify(e)
		}
	}
}

func (r *Receiver) take(w http.ResponseWriter, req *http.Request) ([]Event, error) {
	provider, err := Identify(req.Header)
	if err != nil {
		return nil, err
	}
	proof, err := r.cfg.Secrets().check(provider, req.Header, r.cfg.AllowUnsigned)
	if err != nil {
		return nil, err
	}
	select {
	case r.places <- struct{}{}:
		defer func() { <-r.places }()
	case <-req.Context().Done():
		return nil, fmt.Errorf("wait to read body: %w", req.Context().Err())
	}
	// Not every ResponseWriter has deadlines; the server's own then apply.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, r.cfg.MaxBytes))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if err := proof.body(body); err != nil {
		return nil, err
	}
	return Decode(provider, req.Header, body)
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}
