package veil

import (
	"context"
	"fmt"
	"log/slog"
)

// Log returns a logger that writes what l does, without decrypted values.
func (v *Veil) Log(l *slog.Logger) *slog.Logger {
	return slog.New(handler{Handler: l.Handler(), veil: v})
}

type handler struct {
	slog.Handler
	veil *Veil
}

// Handle writes a record without decrypted values.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if h.veil.Empty() {
		return h.Handler.Handle(ctx, r)
	}
	clean := slog.NewRecord(r.Time, r.Level, h.veil.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.veil.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs returns a handler that adds attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.veil.attr(a)
	}
	return handler{Handler: h.Handler.WithAttrs(clean), veil: h.veil}
}

// WithGroup returns a handler whose attributes are in a group.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{Handler: h.Handler.WithGroup(name), veil: h.veil}
}

func (v *Veil) attr(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	switch value.Kind() {
	case slog.KindString:
		return slog.String(a.Key, v.Text(value.String()))
	case slog.KindGroup:
		group := value.Group()
		clean := make([]slog.Attr, len(group))
		for i, inner := range group {
			clean[i] = v.attr(inner)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	case slog.KindAny:
		if err, is := value.Any().(error); is {
			return slog.String(a.Key, v.Text(err.Error()))
		}
		text := fmt.Sprint(value.Any())
		if clean := v.Text(text); clean != text {
			return slog.String(a.Key, clean)
		}
	}
	return slog.Attr{Key: a.Key, Value: value}
}
