// Package link is the agent's end of the link to a server: it reports what the agent has and does, and executes
// requests. The engine works the same with and without it, and never waits for it.
package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Executor carries out a command of the nature Reads or Changes and returns the body of its Result, which is written as
// JSON. An error that is an *agentapi.Error chooses the code of the Result; those of an API server are translated.
type Executor func(ctx context.Context, cmd agentapi.Command) (body any, err error)

// Streamer carries out a command of the nature Streams. When it returns, the stream ends.
type Streamer func(ctx context.Context, cmd agentapi.Command, s *Stream) error

// Source is what the link reports to the server. It is asked when something is sent, so that nothing is kept twice. Its
// methods are called from any goroutine.
type Source interface {
	// Keys returns the keys of all items of a kind; false if they cannot be listed now. What cannot be listed may still exist.
	Keys(kind agentapi.ItemKind) ([]agentapi.Key, bool)
	// Has reports whether an item is there.
	Has(key agentapi.Key) bool
	// Body returns an item as JSON without anything secret, nil when it is gone.
	Body(key agentapi.Key) []byte
}

// Config is what a Link is made of.
type Config struct {
	Server    *url.URL                 // of the server; see ParseServer
	Transport Transport                // how it is reached
	Token     func() (string, error)   // the one-time token; "" for none
	Core      corev1.CoreV1Interface   // of the cluster that holds the Applications
	Namespace string                   // of the agent
	Instance  string                   // of the process, for people
	Source    Source                   // what is reported
	Records   Records                  // what operations were; nil: nothing is recorded
	Versions  func() agentapi.Versions // of the agent and what it works on
	// Generation is that of the agent's last promotion, and Superseded is called when the server knows a later one; nil: neither.
	Generation func() int64
	Superseded func(ctx context.Context, why string, generation int64)
	// Welcomed is called beside each session, once it has begun; nil: nothing is.
	Welcomed func(context.Context)
	// Components says how the parts of the agent are; it must not block.
	Components func() []agentapi.Component
	// Policy is the data of the ConfigMap slipway-agent-policy, nil when there is none.
	Policy func() map[string]string
	// Redact takes known secrets out of a text or JSON; nil: none are known.
	Redact func([]byte) []byte
	// RedactText takes known secrets out of a message; nil: none are known.
	RedactText func(string) string
	// Manages reports whether the agent works on Applications in a namespace.
	Manages   func(namespace string) bool
	ReadOnly  bool // nothing is written to any cluster
	Executors map[agentapi.Kind]Executor
	Streamers map[agentapi.Kind]Streamer
	Meter     Meter // nil: nothing is measured
	// Trace returns the trace in which an item changed, "" for none; nil: there are none.
	Trace func(agentapi.Key) string
	Now   func() time.Time // the clock on the wall; nil: time.Now
	Log   *slog.Logger
}

// Meter measures. Its methods must not block.
type Meter interface {
	// Batch is called for a batch of so many items that the server answered: refused is the code of its error, "" for none.
	Batch(items int, took time.Duration, refused agentapi.Code)
	// Command is called for a command that was executed, or refused.
	Command(kind agentapi.Kind, status agentapi.Status, took time.Duration)
}

// unmetered is a Meter that measures nothing.
type unmetered struct{}

// Batch implements Meter.
func (unmetered) Batch(int, time.Duration, agentapi.Code) {}

// Command implements Meter.
func (unmetered) Command(agentapi.Kind, agentapi.Status, time.Duration) {}

// Link is the agent's end. Make it with New and call Run once; everything else may be called before and after.
type Link struct {
	*registrar
	cfg     Config
	log     *slog.Logger
	now     func() time.Time
	buffer  *buffer
	status  *board
	server  *serverClock
	worker  *worker
	again   chan struct{} // asks for another session: the key is another one
	renew   time.Duration // between two looks at the files of the transport
	welcome chan struct{} // has something in it after a Hello was answered

	keys sync.Mutex // held while a session is made with a key, and while the next one is made and announced

	mu      sync.Mutex
	session *session // nil while there is none
}

// New puts a Link together. Nothing runs yet.
func New(cfg Config) *Link {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Meter == nil {
		cfg.Meter = unmetered{}
	}
	if cfg.Trace == nil {
		cfg.Trace = func(agentapi.Key) string { return "" }
	}
	if cfg.Generation == nil {
		cfg.Generation = func() int64 { return 0 }
	}
	if cfg.Superseded == nil {
		cfg.Superseded = func(context.Context, string, int64) {}
	}
	if cfg.Welcomed == nil {
		cfg.Welcomed = func(context.Context) {}
	}
	if cfg.Redact == nil {
		cfg.Redact = func(b []byte) []byte { return b }
	}
	if cfg.RedactText == nil {
		cfg.RedactText = redact.Addresses
	}
	board := newBoard(cfg)
	server := &serverClock{now: cfg.Now, status: board, log: cfg.Log}
	l := &Link{
		cfg: cfg, log: cfg.Log, now: cfg.Now, renew: renewEvery, again: make(chan struct{}, 1), welcome: make(chan struct{}, 1),
		buffer: newBuffer(cfg.Source, cfg.Now, cfg.Log), status: board, server: server, worker: newWorker(cfg, server),
		registrar: &registrar{cfg: cfg, log: cfg.Log, status: board},
	}
	l.worker.rotate = l.rotate
	l.buffer.trace = cfg.Trace
	if cfg.Core != nil {
		l.secrets = &identityStore{secrets: cfg.Core.Secrets(cfg.Namespace)}
	}
	return l
}

// Changed says that an item appeared, changed or went. It never blocks.
func (l *Link) Changed(key agentapi.Key) { l.buffer.mark(key) }

// Rescan says that any item of these kinds may be another one. It never blocks.
func (l *Link) Rescan(kinds ...agentapi.ItemKind) { l.buffer.rescan(kinds...) }

// Event reports something to the server's audit log. It never blocks; when too many wait, the oldest are dropped and counted.
func (l *Link) Event(e agentapi.Event) { l.buffer.event(e) }

// Run keeps the link until ctx ends. Whatever goes wrong with it, it tries again, but where the server says that the agent
// runs another engine than it was created for: then it fails.
func (l *Link) Run(ctx context.Context) error {
	if l.cfg.Transport.Insecure {
		l.log.Warn("INSECURE: the server's certificate is not verified (--insecure-skip-verify): " +
			"an attacker on the network can read the reports of this agent; commands are still verified by the server's key")
	}
	defer l.status.set(StateStopped, "the agent stops")
	// What came of commands is still written when ctx has ended.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	if !l.cfg.ReadOnly {
		g.Go(func() error { l.worker.journal.run(writing); return nil })
	}
	l.worker.ctx = ctx
	err := l.keep(ctx)
	l.worker.under.Wait()
	stop()
	return errors.Join(err, g.Wait())
}

// keep has one session after the other, with growing pauses where they fail.
func (l *Link) keep(ctx context.Context) error {
	var pace pace
	for ctx.Err() == nil {
		began := l.now()
		err := l.once(ctx)
		if wrongEngine(err) || superseded(err) {
			l.status.lost(err)
			return err
		}
		l.rest(ctx, err, &pace, began)
	}
	return nil
}

// rest says what a session ended with, and waits until it is time for the next one.
func (l *Link) rest(ctx context.Context, err error, pace *pace, began time.Time) {
	if ctx.Err() != nil {
		return
	}
	l.status.lost(err)
	pause := pace.after(err, l.now().Sub(began))
	l.status.log(err, pause)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// once does what is missing for a session, and has one.
func (l *Link) once(ctx context.Context) error {
	id, err := l.identify(ctx)
	if err != nil {
		return err
	}
	if !l.cfg.ReadOnly {
		if err := l.worker.journal.load(ctx); err != nil {
			// It reports to the server that the API server is away. No command is begun without the journal.
			l.log.Warn("the journal of commands cannot be read", "err", err)
		}
	}
	l.worker.restore()
	cluster, err := l.cluster(ctx)
	if err != nil {
		return err
	}
	err = l.connect(ctx, id, cluster)
	if forbidden(err) {
		l.forget() // another agent may have written another identity
	}
	return err
}

// encode writes a message. Characters of HTML stay as they are: what is measured is what is sent.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
