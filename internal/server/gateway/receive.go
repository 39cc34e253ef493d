package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// handleTimeout is how long the work for one message may take.
const handleTimeout = 15 * time.Second

// listen subscribes to what agents and other servers say.
func (g *Gateway) listen(ctx context.Context, b *broker) error {
	for subject, take := range map[string]nats.MsgHandler{
		requests: func(m *nats.Msg) { g.receive(ctx, m) }, replies: g.Commands.receiveReply, chunks: g.Commands.receiveChunk,
		peerSubject: func(m *nats.Msg) { g.hear(ctx, m.Data) },
	} {
		if err := b.subscribe(subject, take); err != nil {
			return err
		}
	}
	return b.conn.FlushTimeout(startTimeout)
}

// sender takes a subject apart: slipway.<uid>.up.<verb>[.<id>]. The broker ensures that no agent publishes with the uid of
// another.
func sender(subject string) (uid, verb, id string) {
	parts := strings.SplitN(subject, ".", 5)
	if len(parts) < 4 || parts[2] != "up" || !agentapi.ValidUID(parts[1]) {
		return "", "", ""
	}
	if len(parts) == 5 {
		id = parts[4]
	}
	return parts[1], parts[3], id
}

// request is a message that wants an answer.
type request struct {
	limit int
	serve func(ctx context.Context, uid string, data []byte) any
}

// refusal is any answer to a request that was refused: all of them have this field.
type refusal struct {
	Error *agentapi.Error `json:"error"`
}

func (g *Gateway) request(verb string) (request, bool) {
	switch verb {
	case "hello":
		return request{agentapi.MaxRegistration, decoded(func(ctx context.Context, uid string, h *agentapi.Hello) agentapi.Welcome {
			w := g.reception.hello(ctx, uid, h)
			w.Ledger = w.Error == nil && g.cfg.Ledger != nil
			return w
		})}, true
	case "state":
		return request{agentapi.MaxBatch, decoded(g.copies.state)}, true
	case "heartbeat":
		return request{agentapi.MaxCommand, decoded(g.reception.heartbeat)}, true
	case "result":
		return request{agentapi.MaxResult + 64<<10, decoded(g.Commands.result)}, true
	case "record":
		return request{agentapi.MaxMessage, decoded(g.copies.record)}, true
	case "rotate":
		return request{agentapi.MaxRegistration, decoded(g.registrar.rotate)}, true
	}
	return request{}, false
}

// decoded makes a function that reads a message of one that serves it.
func decoded[Q, A any](serve func(context.Context, string, *Q) A) func(context.Context, string, []byte) any {
	return func(ctx context.Context, uid string, data []byte) any {
		q := new(Q)
		if err := strict.Decode(data, q, strict.Unknown, strict.Envelope); err != nil {
			return refusal{malformed(errors.New("it is no JSON of the expected shape"))}
		}
		return serve(ctx, uid, q)
	}
}

// receive puts a message into the lane of its agent. It never waits: it serves all agents.
func (g *Gateway) receive(ctx context.Context, m *nats.Msg) {
	uid, verb, _ := sender(m.Subject)
	request, known := g.request(verb)
	if uid == "" || !known {
		return
	}
	ok, flood := g.limits.take(uid)
	switch {
	case flood:
		g.cfg.Log.Warn("an agent sends too much and is disconnected", "agent", g.presence.name(uid), "uid", uid)
		g.lanes.must(uid, func() { g.conns.cut(uid) })
		return
	case !ok:
		g.answer(uid, m.Reply, refusal{busy("too many messages")})
		return
	case len(m.Data) > request.limit:
		g.answer(uid, m.Reply, refusal{&agentapi.Error{
			Code: agentapi.CodeTooLarge, Message: fmt.Sprintf("%s has %d bytes, more than %d", verb, len(m.Data), request.limit),
		}})
		return
	}
	lane := uid
	if verb == "record" {
		lane += " records" // what was done must not hold up what is
	}
	ok = g.lanes.add(lane, len(m.Data), laneJobs, laneBytes, func() {
		ctx, cancel := context.WithTimeout(ctx, handleTimeout)
		defer cancel()
		g.answer(uid, m.Reply, request.serve(ctx, uid, m.Data))
	})
	if !ok {
		g.answer(uid, m.Reply, refusal{busy("too many messages wait")})
	}
}

// answer sends an answer to the inbox of the agent that asked, and to no other subject: what an agent gives as the subject
// of the answer would be published with the rights of the server.
func (g *Gateway) answer(uid, reply string, message any) {
	rest, ok := strings.CutPrefix(reply, agentapi.InboxPrefix(uid)+".")
	if !ok || len(rest) > 128 || strings.ContainsAny(rest, "*> \t\r\n") {
		return
	}
	data, err := json.Marshal(message)
	if err == nil {
		err = g.conns.publish(reply, data)
	}
	if err != nil {
		g.cfg.Log.Warn("answer an agent", "agent", g.presence.name(uid), "error", err)
	}
}

func malformed(err error) *agentapi.Error {
	return &agentapi.Error{Code: agentapi.CodeMalformed, Message: "the message cannot be taken: " + err.Error()}
}

func busy(why string) *agentapi.Error {
	return &agentapi.Error{Code: agentapi.CodeBusy, Message: "the server is busy: " + why, RetryAfter: 1}
}

func fenced() *agentapi.Error {
	return &agentapi.Error{
		Code: agentapi.CodeFenced, Message: "another session of this agent began since: send hello again, if this agent leads",
	}
}

func revoked() *agentapi.Error {
	return &agentapi.Error{
		Code:    agentapi.CodeRevoked,
		Message: "the server does not know this agent any more: register it again with a new token (slipway agent register)",
	}
}
