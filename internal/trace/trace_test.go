package trace_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/internal/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// tracer is one with an environment.
func tracer(t *testing.T, env map[string]string) *trace.Tracer {
	t.Helper()
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_SAMPLER",
		"OTEL_TRACES_SAMPLER_ARG", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
	} {
		t.Setenv(name, env[name])
	}
	out, err := trace.New(t.Context(), "test", "1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(context.WithoutCancel(t.Context())) })
	return out
}

func TestItIsOffUnlessTheEnvironmentAsksForIt(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
		{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
		{"OTEL_TRACES_SAMPLER": "always_off", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
	} {
		if tracer(t, env) != nil {
			t.Errorf("it is on with %v", env)
		}
	}
}

func TestOffItMakesNothing(t *testing.T) {
	var off *trace.Tracer
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		in, span := off.Start(ctx, "turn")
		span.Fail("x")
		span.Done()
		_ = trace.Parent(in)
	}); n != 0 {
		t.Errorf("%v allocations for nothing", n)
	}
}

func TestNoCallerHasMoreKeptThanTheShare(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"}
	none := tracer(t, env)
	// An id that the share by id would always keep, and the wish to be kept.
	forced := "00-00000000000000000000000000000001-00f067aa0ba902b7-01"
	for range 100 {
		ctx, span := none.Start(none.Caller(t.Context(), forced), "request")
		span.Done()
		if said := trace.Parent(ctx); trace.ID(said) != trace.ID(forced) || strings.HasSuffix(said, "-01") {
			t.Fatalf("the caller's trace goes on as %q", said)
		}
	}
	if ctx, span := none.Start(trace.Trusted(t.Context(), sampled), "request"); !strings.HasSuffix(trace.Parent(ctx), "-01") {
		t.Error("who is trusted is not kept")
	} else {
		span.Done()
	}
}

func TestWhatIsNoTraceparentIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", strings.Repeat("0", 1<<20), "00-00000000000000000000000000000000-00f067aa0ba902b7-01", sampled + "\r\nx: y"} {
		if id := trace.ID(text); id != "" {
			t.Errorf("%.60q is of the trace %s", text, id)
		}
	}
	if id := trace.ID(sampled); id != "4bf92f3577b34da6a3ce929d0e0e4736" {
		t.Errorf("it is of the trace %q", id)
	}
}

func TestWhatCannotBeSentIsRefusedAtTheStart(t *testing.T) {
	for name, value := range map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_TRACES_SAMPLER": "jaeger_remote", "OTEL_TRACES_SAMPLER_ARG": "2"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			if name == "OTEL_TRACES_SAMPLER_ARG" {
				t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
			}
			t.Setenv(name, value)
			if _, err := trace.New(t.Context(), "test", "1", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "OTEL_") {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		})
	}
}
