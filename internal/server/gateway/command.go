package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of commands.
const (
	// changeDeadline and readDeadline are how long a command has that names no deadline.
	changeDeadline, readDeadline = 5 * time.Minute, 30 * time.Second
	// maxDeadline is the longest that one may have.
	maxDeadline = 24 * time.Hour
	// giveUp is how long after its deadline a command that was sent has for its result.
	giveUp = 24 * time.Hour
	// maxOpen is how many commands of an agent may be without a result, maxOpenBytes how large all of them may be, and
	// maxReads how many may be under way that only read.
	maxOpen, maxOpenBytes, maxReads = 1000, 32 << 20, 64
	// maxReplies is how many bytes of results of an agent may be in memory before they are whole.
	maxReplies = 32 << 20
)

// Dispatcher gives commands to agents and takes their results and streams.
type Dispatcher struct {
	cfg      *Config
	lanes    *lanes
	conns    *connections
	presence *presence
	sessions *sessions
	peers    *Peers
	waiting  *waiting
	open     *openCommands
	streams  *streams
}

// Do gives a command to an agent and waits for its result until ctx ends. One that only reads needs the agent to be
// connected. One that changes something is kept first, and given to the agent when it connects, until its deadline; when
// ctx ends before the result is there, Do returns the Result with the Status so far, and the error of ctx.
//
// ID, Issued and Deadline are filled in where they are empty. The same ID again does nothing and waits for the same result.
// An error that is no *agentapi.Error is a fault of the server.
func (d *Dispatcher) Do(ctx context.Context, uid string, c agentapi.Command) (agentapi.Result, error) {
	nature := c.Kind.Nature()
	if nature != agentapi.Reads && nature != agentapi.Changes {
		return agentapi.Result{}, invalid(fmt.Errorf("%.40q is no command with a result", c.Kind))
	}
	if err := d.complete(uid, &c, nature); err != nil {
		return agentapi.Result{}, invalid(err)
	}
	if err := d.lacks(uid, c.Kind); err != nil {
		return agentapi.Result{}, err
	}
	if nature == agentapi.Reads {
		return d.read(ctx, uid, c)
	}
	return d.change(ctx, uid, c)
}

// complete fills in what a command needs and checks the rest.
func (d *Dispatcher) complete(uid string, c *agentapi.Command, nature agentapi.Nature) error {
	now := d.cfg.Now()
	if len(c.Body) > 0 {
		// The one form that is signed: the agent acts on these bytes, and on no others that mean the same.
		normal, err := strict.Normal(c.Body)
		if err != nil {
			return fmt.Errorf("the body of the command: %w", err)
		}
		c.Body = normal
	}
	if c.ID == "" {
		c.ID = newID()
	}
	c.Agent, c.Epoch = uid, 0
	if c.Issued.IsZero() {
		c.Issued = now.UTC()
	}
	if c.Deadline.IsZero() {
		c.Deadline = now.Add(readDeadline).UTC()
		if nature == agentapi.Changes {
			c.Deadline = now.Add(changeDeadline).UTC()
		}
	}
	switch {
	case !agentapi.ValidUID(uid):
		return errors.New("the agent has no uid")
	case !agentapi.ValidID(c.ID):
		return errors.New("the id of the command must be at most 64 letters, digits, hyphens and underscores")
	case c.User == "":
		return errors.New("the command names no user")
	case len(c.Body) > agentapi.MaxCommand:
		return fmt.Errorf("the body of the command has %d bytes, more than %d", len(c.Body), agentapi.MaxCommand)
	case len(c.Reason) > agentapi.MaxText:
		return fmt.Errorf("the reason has %d bytes, more than %d", len(c.Reason), agentapi.MaxText)
	case c.Deadline.Sub(now) > maxDeadline:
		return fmt.Errorf("the deadline is more than %s away", maxDeadline)
	}
	return nil
}

// lacks says why commands of a kind cannot be carried out with the engine of an agent; nil where they can, as far as is
// known here. The agent would say the same.
func (d *Dispatcher) lacks(uid string, kind agentapi.Kind) error {
	at, _ := d.presence.get(uid)
	if why := at.health.Versions.Engine.Lacking(kind); why != "" {
		return &agentapi.Error{Code: agentapi.CodeUnsupported, Message: why}
	}
	return nil
}

// drop ends the streams of an agent, and notifies all who wait for it to answer in another session than epoch that it will not.
func (d *Dispatcher) drop(uid string, epoch int64, fault *agentapi.Error) {
	d.streams.end(uid, fault)
	d.waiting.failReads(uid, epoch, fault)
}

func invalid(err error) *agentapi.Error {
	return &agentapi.Error{Code: agentapi.CodeInvalid, Message: err.Error()}
}

// connectedAgent returns what is known of an agent that can be asked now.
func (d *Dispatcher) connectedAgent(uid string) (seen, error) {
	at, known := d.presence.get(uid)
	if !known {
		at.id = uid
	}
	if !at.ready {
		if known {
			d.peers.askAbout(uid)
		}
		return at, disconnected(at)
	}
	return at, nil
}

// silent is the error where a connected agent does not answer in time. The agent may have stopped within the last seconds, so it is
// not reported as a fault of the server.
func silent(at seen, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &agentapi.Error{
			Code: agentapi.CodeExpired, Message: "agent " + at.id + " does not answer: check that it runs and reaches the server, and try again",
		}
	}
	return fmt.Errorf("wait for agent %s: %w", at.id, err)
}

// read gives an agent a command that only reads.
func (d *Dispatcher) read(ctx context.Context, uid string, c agentapi.Command) (agentapi.Result, error) {
	at, err := d.connectedAgent(uid)
	if err != nil {
		return agentapi.Result{}, err
	}
	w, err := d.waiting.add(uid, c.ID, at.epoch)
	if err != nil {
		return agentapi.Result{}, err
	}
	defer d.waiting.remove(uid, c.ID, w)
	defer d.awaitAgent(uid, at)()
	if err := d.send(uid, at.epoch, c); err != nil {
		return agentapi.Result{}, err
	}
	ctx, cancel := context.WithDeadline(ctx, c.Deadline)
	defer cancel()
	select {
	case answer := <-w.done:
		d.cfg.Meter.Command(c.Kind, answer.result.Status, d.cfg.Now().Sub(c.Issued))
		return answer.result, answer.err()
	case <-ctx.Done():
		d.cfg.Meter.Command(c.Kind, agentapi.StatusExpired, d.cfg.Now().Sub(c.Issued))
		return agentapi.Result{}, silent(at, ctx.Err())
	}
}

// change keeps a command and gives it to an agent now or later.
func (d *Dispatcher) change(ctx context.Context, uid string, c agentapi.Command) (agentapi.Result, error) {
	if d.open.full(uid) {
		return agentapi.Result{}, busy("too many commands wait for agent " + d.presence.name(uid))
	}
	w, err := d.waiting.add(uid, c.ID, 0)
	if err != nil {
		return agentapi.Result{}, err
	}
	defer d.waiting.remove(uid, c.ID, w)
	// However short a caller waits for the result, the database has its time to keep the command.
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), handleTimeout)
	defer cancel()
	switch err := d.cfg.Commands.AddCommand(keeping, Command{Command: c, Trial: agentapi.Trial(c.Kind, c.Body)}); {
	case errors.Is(err, ErrExists):
		kept, err := d.cfg.Commands.GetCommand(keeping, c.ID)
		if err != nil {
			return agentapi.Result{}, fmt.Errorf("read command %s: %w", c.ID, err)
		}
		if kept.Agent != uid || kept.Kind != c.Kind || kept.Target != c.Target {
			return agentapi.Result{}, &agentapi.Error{Code: agentapi.CodeConflict, Message: "the id of the command was used for another one"}
		}
		if kept.Result.Status.Final() {
			return kept.Result, nil
		}
	case errors.Is(err, ErrUnknown):
		return agentapi.Result{}, &agentapi.Error{Code: agentapi.CodeNotFound, Message: "there is no such agent"}
	case err != nil:
		return agentapi.Result{}, fmt.Errorf("keep command %s: %w", c.ID, err)
	default:
		// Neither the timer nor the sending end with the request of the user.
		d.settleAt(ctx, c)
		if at, ok := d.presence.get(uid); ok && at.ready {
			d.sendKept(context.WithoutCancel(ctx), uid, at.epoch, []agentapi.Command{c})
		}
	}
	if answer, there := d.await(ctx, c.ID, w); there {
		return answer.result, answer.err()
	}
	result := agentapi.Result{ID: c.ID, Status: agentapi.StatusPending}
	if d.open.wasSent(uid, c.ID) {
		result.Status = agentapi.StatusSent
	}
	return result, fmt.Errorf("the result of command %s is not there yet: %w", c.ID, ctx.Err())
}

// send signs a command and sends it to an agent.
func (d *Dispatcher) send(uid string, epoch int64, c agentapi.Command) error {
	c.Epoch = epoch
	data, err := agentapi.Sign(d.cfg.Key, agentapi.PurposeCommand, uid, c)
	if err != nil {
		return err
	}
	return d.conns.publish(agentapi.DownCommand(uid), data)
}

// sendKept sends commands that are kept, except those that have a result by now.
func (d *Dispatcher) sendKept(ctx context.Context, uid string, epoch int64, commands []agentapi.Command) {
	if len(commands) == 0 {
		return
	}
	ids := make([]string, 0, len(commands))
	for _, c := range commands {
		ids = append(ids, c.ID)
	}
	open, err := d.cfg.Commands.MarkSent(ctx, uid, ids, d.cfg.Now())
	if err != nil {
		d.cfg.Log.Error("keep that commands are sent", "agent", d.presence.name(uid), "error", err)
		return // with the next heartbeat, or the next session
	}
	for _, c := range commands {
		if !slices.Contains(open, c.ID) {
			continue
		}
		d.open.sent(uid, c.ID, d.cfg.Now())
		if err := d.send(uid, epoch, c); err != nil {
			d.cfg.Log.Error("send a command", "agent", d.presence.name(uid), "command", c.ID, "error", err)
		}
	}
}

// sendOpen sends all commands that wait for an agent that has just connected.
func (d *Dispatcher) sendOpen(ctx context.Context, uid string, epoch int64) {
	d.resend(ctx, uid, epoch, func(string) bool { return true })
}

// sendAgain sends the commands that were sent a while ago and that the agent does not have. Where there are other servers,
// one of them may have kept a command and been killed before it sent it.
func (d *Dispatcher) sendAgain(ctx context.Context, uid string, epoch int64, running []string) {
	before := d.cfg.Now().Add(-agentapi.HeartbeatInterval)
	if d.cfg.Cluster == nil && len(d.open.due(uid, before, running)) == 0 {
		return
	}
	d.resend(ctx, uid, epoch, func(id string) bool { return d.open.due(uid, before, running)[id] })
}

func (d *Dispatcher) resend(ctx context.Context, uid string, epoch int64, wanted func(id string) bool) {
	kept, err := d.cfg.Commands.OpenCommands(ctx, uid)
	if err != nil {
		d.cfg.Log.Error("list commands that wait", "agent", d.presence.name(uid), "error", err)
		return
	}
	var commands []agentapi.Command
	for _, c := range kept {
		d.settleAt(ctx, c.Command)
		// One that was sent before its deadline is sent after it too: only the agent knows what became of it.
		if left := d.left(c.Command); wanted(c.ID) && (c.Result.Status == agentapi.StatusSent || left > 0) {
			commands = append(commands, c.Command)
		}
	}
	d.sendKept(ctx, uid, epoch, commands)
}

// settleAt has a command looked at when its deadline has passed.
func (d *Dispatcher) settleAt(ctx context.Context, c agentapi.Command) {
	ctx = context.WithoutCancel(ctx)
	d.open.watch(c.Agent, c.ID, len(c.Body), d.left(c), func() {
		d.lanes.must(c.Agent, func() { d.settle(ctx, c.Agent, c.ID) })
	})
}

// left is how long a command has until its deadline. One that has longer than any may have was given before the clock went
// back: its time is over, or it would be obeyed until the clock is there again.
func (d *Dispatcher) left(c agentapi.Command) time.Duration {
	if left := c.Deadline.Sub(d.cfg.Now()); left <= maxDeadline+clockAhead {
		return left
	}
	return 0
}

// SettleOverdue ends commands whose deadline has passed, those included that no server that runs knows. One of several
// servers does it now and then.
func (d *Dispatcher) SettleOverdue(ctx context.Context) error {
	overdue, err := d.cfg.Commands.OverdueCommands(ctx, d.cfg.Now())
	for uid, ids := range overdue {
		for _, id := range ids {
			d.lanes.must(uid, func() { d.settle(context.WithoutCancel(ctx), uid, id) })
		}
	}
	return err
}

// settle ends a command whose deadline has passed without its being sent, or that was not reported long after it.
func (d *Dispatcher) settle(ctx context.Context, uid, id string) {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	kept, err := d.cfg.Commands.GetCommand(ctx, id)
	if err != nil || kept.Result.Status.Final() {
		d.open.drop(uid, id)
		return
	}
	now := d.cfg.Now()
	result := agentapi.Result{
		ID: id, Status: agentapi.StatusExpired, Code: agentapi.CodeExpired, Finished: now.UTC(),
		Message: "the agent did not connect before the deadline",
	}
	if kept.Result.Status == agentapi.StatusSent {
		if left := kept.Deadline.Add(giveUp).Sub(now); left > 0 {
			d.open.again(uid, id, min(left, maxDeadline+giveUp))
			return
		}
		result.Status, result.Code = agentapi.StatusUnknown, agentapi.CodeInterrupted
		result.Message = "the agent never reported what became of it"
	} else if left := d.left(kept.Command); left > 0 {
		d.open.again(uid, id, left)
		return
	}
	if err := d.finish(ctx, uid, result, result.Status == agentapi.StatusExpired); err != nil {
		d.cfg.Log.Error("end a command after its deadline", "agent", d.presence.name(uid), "command", id, "error", err)
	}
}

// finish keeps a result and notifies those who wait for it. A result that comes again is reported to the audit again: the server
// may have been killed after it was kept.
func (d *Dispatcher) finish(ctx context.Context, uid string, result agentapi.Result, pendingOnly bool) error {
	first, err := d.cfg.Commands.FinishCommand(ctx, uid, result, pendingOnly, d.cfg.Now())
	if err != nil {
		return err
	}
	if !first && pendingOnly { // it was sent at the same moment
		d.open.again(uid, result.ID, giveUp)
		return nil
	}
	kept, err := d.cfg.Commands.GetCommand(ctx, result.ID)
	if err == nil {
		d.cfg.Audit.CommandFinished(ctx, kept)
	}
	if first {
		d.cfg.Meter.Command(kept.Kind, result.Status, d.cfg.Now().Sub(kept.Issued))
		d.open.drop(uid, result.ID)
		d.waiting.deliver(uid, result)
		d.peers.tell(peerNote{Type: noteResult, UID: uid, Result: &result})
		d.cfg.Notify(Change{UID: uid, Command: result.ID})
	}
	return err
}

// result takes the Result of a command that is kept.
func (d *Dispatcher) result(ctx context.Context, uid string, r *agentapi.ResultReport) agentapi.ResultAck {
	if d.sessions.of(uid, r.Epoch) == nil {
		return agentapi.ResultAck{Error: fenced()}
	}
	if err := checkResult(&r.Result); err != nil {
		return agentapi.ResultAck{Error: malformed(err)}
	}
	// Its age decides how long it is kept. A time that cannot be is that of a clock that is wrong.
	if now := d.cfg.Now(); r.Result.Finished.After(now.Add(clockAhead)) || r.Result.Finished.Before(now.Add(-maxDeadline-giveUp)) {
		r.Result.Finished = now.UTC()
	}
	if err := d.finish(ctx, uid, r.Result, false); err != nil && !errors.Is(err, ErrUnknown) {
		return agentapi.ResultAck{Error: d.presence.fault(d.cfg.Log, uid, "keep the result", err)}
	}
	return agentapi.ResultAck{}
}

// receiveReply takes a Part of the Result of a command that only reads.
func (d *Dispatcher) receiveReply(m *nats.Msg) {
	uid, _, id := sender(m.Subject)
	if uid == "" || !d.waiting.has(uid, id) {
		return
	}
	if !d.lanes.add(uid+"/replies", len(m.Data), replyJobs, replyBytes, func() {
		var part agentapi.Part
		if err := strict.Decode(m.Data, &part, strict.Unknown); err != nil {
			d.waiting.fail(uid, id, malformed(errors.New("a part of the result is no JSON")))
			return
		}
		d.waiting.part(uid, id, part)
	}) {
		d.waiting.fail(uid, id, busy("the agent sends too much data"))
	}
}
