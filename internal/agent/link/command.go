package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of what is done at a time.
const (
	maxRunning  = 512 // that the agent has got
	maxAtOnce   = 16  // of these, that it carries out: as many reads, and as many changes
	maxStreams  = 256
	readLimit   = 2 * time.Minute
	changeLimit = 10 * time.Minute
)

// worker carries commands out: each change once, and so many at a time.
type worker struct {
	cfg     Config
	log     *slog.Logger
	now     func() time.Time
	server  *serverClock
	journal *journal
	outbox  *outbox
	running *running
	heard   *heard
	rotate  Executor        // of KindRotate, which is the link's own
	ctx     context.Context //nolint:containedctx // of Run: commands that were begun end with it, not with a session
	under   sync.WaitGroup  // commands under way
	reads   chan struct{}   // has one in it for each that is carried out
	changes chan struct{}
}

func newWorker(cfg Config, server *serverClock) *worker {
	w := &worker{
		cfg: cfg, log: cfg.Log, now: cfg.Now, server: server, outbox: newOutbox(), running: newRunning(), heard: newHeard(),
		reads: make(chan struct{}, maxAtOnce), changes: make(chan struct{}, maxAtOnce),
	}
	if cfg.Core != nil {
		w.journal = newJournal(cfg.Core.ConfigMaps(cfg.Namespace), cfg.Instance, w.clocks)
	}
	return w
}

// clocks reads the clock on the wall, and the one that nothing sets.
func (w *worker) clocks() clock.Instant {
	return clock.Instant{Wall: w.now().Round(0), Ran: clock.Ran()}
}

// restore puts the results of the journal that the server may not have into the outbox.
func (w *worker) restore() {
	if w.cfg.ReadOnly {
		return
	}
	for _, r := range w.journal.untold() {
		w.outbox.put(r)
	}
}

// command takes a Command that came down. It does not block: the connection's other messages wait behind it.
func (s *session) command(msg *nats.Msg) {
	l := s.link
	var cmd agentapi.Command
	if err := agentapi.Open(s.id.serverKey, agentapi.PurposeCommand, s.id.uid, msg.Data, &cmd); err != nil {
		l.log.Error("a command is not taken", "err", err)
		return
	}
	// The epoch is known before the server sends commands: it waits for the first heartbeat.
	if cmd.Agent != s.id.uid || cmd.Epoch != s.currentEpoch() || !agentapi.ValidID(cmd.ID) || len(cmd.Body) > agentapi.MaxCommand {
		l.log.Debug("a command is dropped: it is of another session", "command", legible.Cut(cmd.ID, agentapi.MaxStreamID), "epoch", cmd.Epoch)
		return
	}
	switch cmd.Kind.Nature() {
	case agentapi.Changes:
		s.change(cmd)
	case agentapi.Streams:
		s.openStream(cmd)
	default: // also unknown ones: the server waits for a Result
		s.read(cmd)
	}
}

// permit says why a command may not be carried out.
func (w *worker) permit(cmd agentapi.Command) *agentapi.Error {
	now := w.server.time()
	switch {
	case cmd.Deadline.IsZero():
		return &agentapi.Error{Code: agentapi.CodeInvalid, Message: "the command has no deadline"}
	case now.After(cmd.Deadline):
		return &agentapi.Error{Code: agentapi.CodeExpired, Message: fmt.Sprintf("the command came at %s, after its deadline %s: send it again",
			now.UTC().Format(time.RFC3339), cmd.Deadline.UTC().Format(time.RFC3339))}
	case cmd.Deadline.Sub(now) > longestDeadline+maxSkew:
		// Until the clock is there again, it could be sent to the agent again.
		return &agentapi.Error{Code: agentapi.CodeInvalid, Message: fmt.Sprintf("the deadline %s of the command is more than %s away: "+
			"correct the clock of the server or of the agent, and send it again", cmd.Deadline.UTC().Format(time.RFC3339), longestDeadline)}
	case w.cfg.ReadOnly && cmd.Kind.Nature() != agentapi.Reads && cmd.Kind != agentapi.KindResourceLogs && cmd.Kind != agentapi.KindTreeWatch:
		return &agentapi.Error{Code: agentapi.CodePolicy, Message: "the agent is in shadow mode: it writes nothing"}
	case cmd.Target.Namespace != "" && !w.cfg.Manages(cmd.Target.Namespace):
		return &agentapi.Error{
			Code:    agentapi.CodeForbidden,
			Message: fmt.Sprintf("this agent does not manage namespace %.64s: see its --application-namespaces", cmd.Target.Namespace),
		}
	case cmd.Judged != nil && len(cmd.Body) > 0 && !strict.IsNormal(cmd.Body):
		return &agentapi.Error{
			Code: agentapi.CodeInvalid, Message: "the body of the command is not in the form in which it was judged: update the server",
		}
	}
	return allowed(w.cfg.Policy(), cmd)
}

// read carries out a command that changes nothing, and replies.
func (s *session) read(cmd agentapi.Command) {
	w := s.link.worker
	if !w.firstTime(cmd) || !w.running.begin(cmd.ID, maxRunning) {
		return // it is under way, or there are too many: the caller sees that nothing comes
	}
	began := w.now()
	if !s.work(func() {
		defer w.running.end(cmd.ID)
		var result agentapi.Result
		if refusal := w.permit(cmd); refusal != nil {
			result = failed(cmd.ID, refusal)
		} else {
			ctx, cancel := context.WithTimeout(s.ctx, readLimit)
			defer cancel()
			if !turn(ctx, w.reads) {
				return // nothing waits any more
			}
			result = w.clean(w.execute(ctx, cmd))
			<-w.reads
		}
		result.Finished = w.now()
		w.cfg.Meter.Command(cmd.Kind, result.Status, result.Finished.Sub(began))
		parts, err := agentapi.Split(s.epoch, result)
		if err != nil {
			result = failed(cmd.ID, &agentapi.Error{Code: agentapi.CodeTooLarge, Message: err.Error()})
			if parts, err = agentapi.Split(s.epoch, result); err != nil {
				return
			}
		}
		for _, part := range parts {
			body, err := encode(part)
			if err == nil {
				err = s.conn.Publish(agentapi.UpReply(s.id.uid, cmd.ID), body)
			}
			if err != nil {
				return // the connection is gone, and so is the caller
			}
		}
	}) {
		w.running.end(cmd.ID)
	}
}

// change carries out a command that changes something, once, and puts what came of it into the outbox.
func (s *session) change(cmd agentapi.Command) {
	w := s.link.worker
	if w.outbox.has(cmd.ID) || !w.running.begin(cmd.ID, maxRunning) {
		return // it is running or reported soon; where there are too many, the server sends it again
	}
	if w.heard.has(cmd.ID) { // whatever would be allowed by now: the answer was no
		w.running.end(cmd.ID)
		again := failed(cmd.ID, &agentapi.Error{Code: agentapi.CodeInvalid, Message: "the command was refused before: ask again"})
		again.Finished = w.now()
		w.outbox.put(again)
		return
	}
	if !s.work(func() {
		defer w.running.end(cmd.ID)
		// Not the session's context: what was begun goes on without a connection.
		ctx, cancel := context.WithTimeout(w.ctx, changeLimit)
		defer cancel()
		if !turn(ctx, w.changes) {
			return
		}
		defer func() { <-w.changes }()
		if result := w.carryOut(ctx, cmd); result != nil {
			w.outbox.put(*result)
			if result.Status == agentapi.StatusRefused || result.Status == agentapi.StatusExpired {
				w.heard.first(cmd) // not in the journal
			}
		}
	}) {
		w.running.end(cmd.ID)
	}
}

// turn waits for a place among those that are carried out.
func turn(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// carryOut claims a command, executes it and writes down what came of it. It returns nil if nothing is to be reported: it
// could not be begun and may be sent again.
func (w *worker) carryOut(ctx context.Context, cmd agentapi.Command) *agentapi.Result {
	start := w.now()
	if !w.cfg.ReadOnly {
		// Before the permission: what was done once keeps its answer, also after its deadline.
		if r := w.journal.find(cmd.ID); r != nil {
			return w.journal.answer(cmd.ID, r)
		}
	}
	if refusal := w.permit(cmd); refusal != nil {
		w.log.Warn("a command is refused", "command", cmd.ID, "kind", cmd.Kind, "user", legible.Cut(cmd.User, maxEventText), "err", refusal)
		result := failed(cmd.ID, refusal)
		result.Finished = w.now()
		w.cfg.Meter.Command(cmd.Kind, result.Status, result.Finished.Sub(start))
		return &result
	}
	before, err := w.journal.claim(ctx, cmd)
	switch {
	case errors.Is(err, errJournalFull):
		result := failed(cmd.ID, &agentapi.Error{Code: agentapi.CodeBusy, Message: err.Error()})
		return &result
	case err != nil:
		w.log.Warn("a command could not be begun; it is begun when it comes again", "command", cmd.ID, "kind", cmd.Kind, "err", err)
		return nil
	case before != nil:
		return w.journal.answer(cmd.ID, before)
	}
	result := w.clean(w.execute(ctx, cmd))
	result.Finished = w.now()
	if len(result.Body) > agentapi.MaxResult {
		result.Body = nil
	}
	if w.ctx.Err() != nil && result.Status == agentapi.StatusFailed {
		result = *interrupted(cmd.ID, w.now()) // by our own end
	}
	if err := w.journal.finish(context.WithoutCancel(ctx), result); err != nil {
		// After a restart the agent would say that it does not know. Until then it does.
		w.log.Warn("the end of a command is not in the journal", "command", cmd.ID, "err", err)
	}
	w.cfg.Meter.Command(cmd.Kind, result.Status, result.Finished.Sub(start))
	w.log.Info("command", "command", cmd.ID, "kind", cmd.Kind, "namespace", cmd.Target.Namespace, "name", cmd.Target.Name,
		"user", legible.Cut(cmd.User, maxEventText),
		"reason", legible.Cut(cmd.Reason, maxEventText), "status", result.Status, "message", legible.Cut(result.Message, maxEventText),
		"took", w.now().Sub(start).Round(time.Millisecond).String())
	return &result
}

// answer is what a command gets that was begun before; nil where it is still under way here.
func (j *journal) answer(id string, r *record) *agentapi.Result {
	switch {
	case r.Result != nil:
		return r.Result
	case r.By != j.by:
		return interrupted(id, j.wall())
	}
	// Begun by this process and not under way: its end could not be written.
	return interrupted(id, j.wall())
}

// execute calls the executor of a command. A crash is a failure of this command alone.
func (w *worker) execute(ctx context.Context, cmd agentapi.Command) (result agentapi.Result) {
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("a command crashed", "command", cmd.ID, "kind", cmd.Kind, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			result = failed(cmd.ID, &agentapi.Error{
				Code: agentapi.CodeInternal, Message: "the agent has a fault and could not do this: see its log",
			})
			result.Status = agentapi.StatusFailed
		}
	}()
	run := w.cfg.Executors[cmd.Kind]
	if cmd.Kind == agentapi.KindRotate {
		run = w.rotate
	}
	if run == nil {
		return failed(cmd.ID, &agentapi.Error{
			Code: agentapi.CodeUnsupported, Message: fmt.Sprintf("this agent cannot do %.64q: it may be older than the server", cmd.Kind),
		})
	}
	body, err := run(ctx, cmd)
	if err != nil {
		known := *asError(err)
		known.Message = w.cfg.RedactText(known.Message) // before it is cut: half a secret is not known
		return failed(cmd.ID, &known)
	}
	result = agentapi.Result{ID: cmd.ID, Status: agentapi.StatusDone}
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return failed(cmd.ID, &agentapi.Error{Code: agentapi.CodeInternal, Message: "the answer cannot be written: " + err.Error()})
		}
		result.Body = raw
	}
	return result
}

// clean takes secrets that the agent knows out of a Result.
func (w *worker) clean(r agentapi.Result) agentapi.Result {
	r.Message = w.cfg.RedactText(r.Message)
	if len(r.Body) > 0 {
		r.Body = legible.JSON(w.cfg.Redact(r.Body))
	}
	return r
}

// failed is the Result for an error.
func failed(id string, e *agentapi.Error) agentapi.Result {
	status := agentapi.StatusFailed
	switch e.Code {
	case agentapi.CodePolicy, agentapi.CodeUnsupported, agentapi.CodeInvalid, agentapi.CodeForbidden,
		agentapi.CodeSignature, agentapi.CodeBusy:
		status = agentapi.StatusRefused
	case agentapi.CodeExpired:
		status = agentapi.StatusExpired
	}
	return agentapi.Result{ID: id, Status: status, Code: e.Code, Message: legible.Cut(redact.Addresses(e.Message), agentapi.MaxText)}
}

// asError finds the code of an error.
func asError(err error) *agentapi.Error {
	var known *agentapi.Error
	if errors.As(err, &known) {
		out := *known
		if message := err.Error(); !strings.HasPrefix(message, known.Message) { // the command has reported more
			out.Message = strings.TrimSuffix(message, " ("+string(known.Code)+")")
		}
		return &out
	}
	code := agentapi.Code("")
	switch {
	case apierrors.IsNotFound(err):
		code = agentapi.CodeNotFound
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		code = agentapi.CodeConflict
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		code = agentapi.CodeForbidden
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		code = agentapi.CodeInvalid
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err):
		code = agentapi.CodeBusy
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		code = agentapi.CodeUnreachable
	}
	return &agentapi.Error{Code: code, Message: err.Error()}
}

// openStream carries out a command that opens a stream.
func (s *session) openStream(cmd agentapi.Command) {
	w := s.link.worker
	id := cmd.Stream
	ctx, cancel := context.WithCancel(s.ctx)
	st := newStream(id, cmd.Credit, func(c agentapi.Chunk) error {
		body, err := encode(c)
		if err != nil {
			return fmt.Errorf("write a chunk: %w", err)
		}
		return s.conn.Publish(agentapi.UpStream(s.id.uid, id), body)
	}, cancel)
	refuse := func(code agentapi.Code, message string) {
		st.finish(&agentapi.Error{Code: code, Message: message})
	}
	if !agentapi.ValidID(id) || !w.firstTime(cmd) {
		cancel()
		return
	}
	s.mu.Lock()
	_, known := s.streams[id]
	full := len(s.streams) >= maxStreams
	if !known && !full {
		s.streams[id] = st
	}
	s.mu.Unlock()
	switch {
	case known:
		cancel()
		return
	case full:
		refuse(agentapi.CodeBusy, fmt.Sprintf("%d streams are open already: close one", maxStreams))
		return
	}
	if !s.work(func() {
		defer cancel()
		defer func() {
			s.mu.Lock()
			delete(s.streams, id)
			s.mu.Unlock()
		}()
		st.finish(w.stream(ctx, cmd, st))
	}) {
		cancel()
	}
}

// stream calls the streamer of a command and returns why the stream ends; nil if all is reported.
func (w *worker) stream(ctx context.Context, cmd agentapi.Command, st *Stream) (cause *agentapi.Error) {
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("a stream crashed", "command", cmd.ID, "kind", cmd.Kind, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			cause = &agentapi.Error{Code: agentapi.CodeInternal, Message: "the agent has a fault and could not do this: see its log"}
		}
	}()
	if refusal := w.permit(cmd); refusal != nil {
		return refusal
	}
	run := w.cfg.Streamers[cmd.Kind]
	if run == nil {
		return &agentapi.Error{
			Code: agentapi.CodeUnsupported, Message: fmt.Sprintf("this agent cannot do %.64q: it may be older than the server", cmd.Kind),
		}
	}
	if st.open() != nil {
		return nil // the connection is gone, and so is the caller
	}
	if err := run(ctx, cmd, st); err != nil && !errors.Is(err, errStreamOver) {
		e := asError(err)
		e.Message = legible.Cut(w.cfg.RedactText(e.Message), agentapi.MaxText)
		return e
	}
	return nil
}

// chunk takes a Chunk that came down.
func (s *session) chunk(msg *nats.Msg) {
	var c agentapi.Chunk
	if err := agentapi.Open(s.id.serverKey, agentapi.PurposeStream, s.id.uid, msg.Data, &c); err != nil {
		s.link.log.Error("a chunk of a stream is not taken", "err", err)
		return
	}
	s.mu.Lock()
	st := s.streams[c.Stream]
	s.mu.Unlock()
	if st != nil {
		st.deliver(c)
	} else if agentapi.ValidID(c.Stream) && !c.End {
		s.lost(c.Stream)
	}
}

// lost reports to the server that there is no such stream: the piece that ended it did not arrive.
func (s *session) lost(id string) {
	body, err := encode(agentapi.Chunk{
		Stream: id, Seq: agentapi.NoStream, End: true,
		Error: &agentapi.Error{Code: agentapi.CodeInterrupted, Message: "the agent has ended the stream"},
	})
	if err == nil {
		err = s.conn.Publish(agentapi.UpStream(s.id.uid, id), body)
	}
	if err != nil {
		s.link.log.Debug("link", "err", err) // the server ends it with the session
	}
}

// pulse shows the server, slowly, that the open streams are there, until ctx ends: a piece that was lost shows by it.
func (s *session) pulse(ctx context.Context) {
	timer := time.NewTimer(agentapi.PulseEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-timer.C:
			s.mu.Lock()
			open := make([]*Stream, 0, len(s.streams))
			for _, st := range s.streams {
				open = append(open, st)
			}
			s.mu.Unlock()
			for _, st := range open {
				st.pulse(now)
			}
		}
		timer.Reset(clock.About(agentapi.PulseEvery))
	}
}
