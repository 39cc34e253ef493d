// Package trace follows a piece of work through agents and servers, as spans of OpenTelemetry. It is off unless the
// environment says where spans go; a nil *Tracer is one that is off, and all its methods do next to nothing.
package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Header is that of HTTP which carries a trace: W3C Trace Context.
const Header = "Traceparent"

// Tracer makes spans. Make it with New; it is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
	root     sdk.Sampler // decides about traces that begin here
}

// New reads the OTEL_* variables of the environment. It returns nil where none of them says where spans go
// (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or OTEL_TRACES_EXPORTER=otlp), or where one turns
// traces off. The service is what OTEL_SERVICE_NAME does not say otherwise.
func New(ctx context.Context, service, version string, log *slog.Logger) (*Tracer, error) {
	root, err := rootSampler()
	if err != nil || root == nil {
		return nil, err
	}
	switch protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol {
	case "", "http/protobuf":
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %.40q: spans go out as http/protobuf; leave it out, "+
			"and give the port of that (4318)", protocol)
	}
	client, err := otlptracehttp.New(ctx)
	if err != nil {
		// it may hold a password
		return nil, errors.New("prepare to send spans: OTEL_EXPORTER_OTLP_ENDPOINT cannot be used: write http://HOST:4318")
	}
	about, err := resource.Merge(
		resource.NewSchemaless(attribute.String("service.name", service), attribute.String("service.version", version)), resource.Environment())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(&quiet{SpanExporter: client, log: log}), sdk.WithResource(about), sdk.WithSampler(sdk.ParentBased(root)))
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/slipway-gitops/slipway"), root: root}, nil
}

// first returns the first variable that is set.
func first(names ...string) string {
	for _, name := range names {
		if value := strings.TrimSpace(os.Getenv(name)); value != "" {
			return value
		}
	}
	return ""
}

// rootSampler is what decides about traces that begin here; nil where no traces are wanted.
func rootSampler() (sdk.Sampler, error) {
	exporter := os.Getenv("OTEL_TRACES_EXPORTER")
	switch {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"), exporter == "none":
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	case exporter == "" && first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") == "":
		return nil, nil //nolint:nilnil // the same
	case exporter != "" && exporter != "otlp":
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %.40q: use otlp or none", exporter)
	}
	switch name := os.Getenv("OTEL_TRACES_SAMPLER"); strings.TrimPrefix(name, "parentbased_") {
	case "", "always_on":
		return sdk.AlwaysSample(), nil
	case "always_off":
		return nil, nil //nolint:nilnil // the same
	case "traceidratio":
		text := os.Getenv("OTEL_TRACES_SAMPLER_ARG")
		ratio, err := strconv.ParseFloat(text, 64)
		if text != "" && (err != nil || ratio < 0 || ratio > 1) {
			return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %.40q: it is the share of traces that are kept, from 0 to 1", text)
		}
		if text == "" {
			ratio = 1
		}
		return sdk.TraceIDRatioBased(ratio), nil
	default:
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER is %.40q: use parentbased_always_on, parentbased_traceidratio or always_off", name)
	}
}

// quiet is an exporter whose errors are logged and end there.
type quiet struct {
	sdk.SpanExporter
	log *slog.Logger
}

// ExportSpans implements sdk.SpanExporter.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := q.SpanExporter.ExportSpans(ctx, spans); err != nil {
		q.log.Warn("spans were not taken by OTEL_EXPORTER_OTLP_ENDPOINT", "spans", len(spans)) // the error may hold the address
	}
	return nil
}

// Close sends what is left.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what was not taken was logged
}

// Trusted returns a context in the trace that a peer of ours sends. What is no traceparent changes nothing.
func Trusted(ctx context.Context, traceparent string) context.Context {
	if ID(traceparent) == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(http.Header{Header: {traceparent}}))
}

// Caller returns a context in the trace that a caller sends. Whether it is kept is decided here, by chance and not by
// the id, which is the caller's choice: no caller can have more kept than the share of the configuration.
func (t *Tracer) Caller(ctx context.Context, traceparent string) context.Context {
	said := otel.SpanContextFromContext(Trusted(ctx, traceparent))
	if !said.IsValid() {
		return ctx
	}
	return otel.ContextWithRemoteSpanContext(ctx,
		said.WithTraceFlags(said.TraceFlags().WithSampled(t.chance())).WithTraceState(otel.TraceState{}))
}

// chance decides about a trace of another program.
func (t *Tracer) chance() bool {
	if t == nil {
		return false
	}
	var id otel.TraceID
	for i := range id {
		id[i] = byte(rand.Uint32()) //nolint:gosec // it is a lot, no secret
	}
	return t.root.ShouldSample(sdk.SamplingParameters{ParentContext: context.Background(), TraceID: id}).Decision == sdk.RecordAndSample
}

// Parent is the traceparent of a context; "" where it has no trace.
func Parent(ctx context.Context) string {
	if !otel.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// ID is the id of the trace that a traceparent is of; "" for what is none. What it takes, Trusted takes.
func ID(traceparent string) string {
	parts := strings.SplitN(traceparent, "-", 5)
	if len(parts) != 4 || parts[0] != "00" || len(parts[3]) != 2 || parts[3] < "00" || parts[3] > "03" {
		return ""
	}
	if _, err := otel.SpanIDFromHex(parts[2]); err != nil {
		return ""
	}
	id, err := otel.TraceIDFromHex(parts[1])
	if err != nil {
		return ""
	}
	return id.String()
}

// Span is a part of a trace. Nil is none.
type Span struct{ otel.Span }

// Start begins a span in the trace of ctx, or a trace where it has none. Attributes are names and values in turn: names
// of things, never what is in them.
func (t *Tracer) Start(ctx context.Context, name string, attributes ...string) (context.Context, *Span) {
	return t.at(ctx, name, time.Time{}, attributes)
}

func (t *Tracer) at(ctx context.Context, name string, start time.Time, attributes []string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	options := []otel.SpanStartOption{otel.WithAttributes(pairs(attributes)...)}
	if !start.IsZero() {
		options = append(options, otel.WithTimestamp(start))
	}
	ctx, span := t.tracer.Start(ctx, name, options...)
	return ctx, &Span{span}
}

// maxValue is how long the value of an attribute is at most.
const maxValue = 200

func pairs(attributes []string) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(attributes)/2)
	for i := 0; i+1 < len(attributes); i += 2 {
		if value := attributes[i+1]; value != "" {
			out = append(out, attribute.String(attributes[i], legible.Prefix(value, maxValue)))
		}
	}
	return out
}

// Past adds a span that is over.
func (t *Tracer) Past(ctx context.Context, name string, start, end time.Time, attributes ...string) {
	if _, span := t.at(ctx, name, start, attributes); span != nil {
		span.Span.End(otel.WithTimestamp(end))
	}
}

// Call gives a span its name, once that is known.
func (s *Span) Call(name string) {
	if s != nil {
		s.SetName(name)
	}
}

// Set adds attributes, as for Start.
func (s *Span) Set(attributes ...string) {
	if s != nil {
		s.SetAttributes(pairs(attributes)...)
	}
}

// Fail says that it did not go well: in one word, such as a stage or a code, since messages may hold what is private.
func (s *Span) Fail(word string) {
	if s != nil {
		s.SetStatus(codes.Error, word)
	}
}

// Done ends a span.
func (s *Span) Done() {
	if s != nil {
		s.End()
	}
}
