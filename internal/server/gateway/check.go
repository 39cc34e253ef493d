package gateway

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of what agents report, beside those that package agentapi names.
const (
	maxName       = 253
	maxComponents = 32
	maxRunning    = 1000
)

// isName reports whether a text is a short one without blanks or what cannot be printed.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
}

// line makes a text of an agent one that can be stored and shown: no control characters but line breaks and tabs, and
// not longer than limit bytes.
func line(s string, limit int) string {
	return legible.Text(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == utf8.RuneError) {
			return -1
		}
		return r
	}, s), limit)
}

// checkJSON says what is wrong with JSON that a store is to keep: it must have one meaning and texts that a column takes, and
// not nest without end.
func checkJSON(data []byte, limit int) error {
	if len(data) > limit {
		return fmt.Errorf("it has %d bytes, more than %d", len(data), limit)
	}
	return strict.Check(data, nil)
}

// breadth returns how many values JSON has, at most.
func breadth(data []byte) (values int) {
	text := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{', c == '[', c == ',':
			values++
		}
	}
	return values
}

func isHash(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// checkItem says why an item cannot be kept.
func checkItem(item agentapi.Item) error {
	if item.Deleted {
		return nil
	}
	if !isHash(item.Hash) {
		return errors.New("the hash is not 1 to 64 hexadecimal digits")
	}
	if len(item.Body) == 0 || item.Body[0] != '{' {
		return errors.New("the body is no JSON object")
	}
	if err := checkJSON(item.Body, agentapi.MaxItem); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// maxEcho is how much of a key or an id that is invalid is sent back, in bytes. What is longer no agent of ours has.
const maxEcho = 512

// maxRejected is how many items an Ack rejects by name. An agent that has more is not one of ours.
const maxRejected = 500

// sift parts the items of a batch into those that can be kept and those that cannot. Each is judged alone, but for a key
// that the batch has more than once: which of its items counts is unknown, so none does.
func sift(items []agentapi.Item) (kept []agentapi.Item, rejected []agentapi.Rejected) {
	times := make(map[agentapi.Key]int, len(items))
	for _, item := range items {
		times[item.Key]++
	}
	for _, item := range items {
		err := item.Check()
		switch n := times[item.Key]; {
		case n == 0: // reported with the first of them
			continue
		case err == nil && n > 1:
			err = fmt.Errorf("it is in the batch %d times", n)
		case err == nil:
			// Its hash stays: it names what the agent has.
			if len(item.Body) <= agentapi.MaxItem {
				item.Body = legible.JSON(item.Body)
			}
			err = checkItem(item)
		}
		if err != nil {
			delete(times, item.Key)
			rejected = append(rejected, agentapi.Rejected{Key: echo(item.Key), Message: err.Error()})
			continue
		}
		if item.Deleted {
			item = agentapi.Item{Key: item.Key, Deleted: true}
		}
		kept = append(kept, item)
	}
	return kept, rejected
}

// echo is a key as it is sent back to the agent that sent it.
func echo(key agentapi.Key) agentapi.Key {
	cut := func(s string) string { return s[:min(len(s), maxEcho)] }
	return agentapi.Key{Kind: agentapi.ItemKind(cut(string(key.Kind))), Namespace: cut(key.Namespace), Name: cut(key.Name)}
}

// siftEvents parts events into those that can be kept, with texts that are proper ones, and those that cannot.
func siftEvents(events []agentapi.Event) (kept []agentapi.Event, rejected []agentapi.RejectedEvent) {
	for _, e := range events {
		if err := checkEvent(&e); err != nil {
			rejected = append(rejected, agentapi.RejectedEvent{ID: e.ID[:min(len(e.ID), maxEcho)], Message: err.Error()})
			continue
		}
		kept = append(kept, e)
	}
	return kept, rejected
}

// checkEvent makes the texts of an event proper ones, or says why it cannot be kept.
func checkEvent(e *agentapi.Event) error {
	switch {
	case !isName(e.ID) || len(e.ID) > 128:
		return errors.New("the id is empty, too long, or has characters that cannot be")
	case !isName(string(e.Type)):
		return errors.New("the type is empty, too long, or has characters that cannot be")
	case e.At.IsZero() || e.At.Year() < 1 || e.At.Year() > 9999:
		return errors.New("the time cannot be one")
	case e.Target != (agentapi.Key{}):
		if err := e.Target.Check(); err != nil {
			return fmt.Errorf("the target: %w", err)
		}
	}
	for _, text := range []*string{&e.Project, &e.User, &e.Command, &e.Revision, &e.Before, &e.Outcome} {
		*text = line(*text, maxName)
	}
	e.Reason, e.Message = line(e.Reason, agentapi.MaxText), line(e.Message, agentapi.MaxText)
	return nil
}

func checkHello(h *agentapi.Hello) error {
	switch {
	case !isName(h.ClusterUID) || !isName(h.Namespace):
		return errors.New("cluster and namespace must be short names")
	case len(h.SealKey) != 0 && len(h.SealKey) != 32:
		return errors.New("the seal key must have 32 bytes")
	}
	if h.Generation < 0 {
		return errors.New("the generation must not be negative")
	}
	h.Instance = line(h.Instance, maxName)
	h.Versions = versions(h.Versions)
	return nil
}

func versions(v agentapi.Versions) agentapi.Versions {
	return agentapi.Versions{
		Agent: line(v.Agent, 64), Kubernetes: line(v.Kubernetes, 64), Git: line(v.Git, 64), Engine: v.Engine.Known(),
		Image: line(v.Image, 512), Upgrades: v.Upgrades, NoUpgrade: line(v.NoUpgrade, 512),
	}
}

func checkHeartbeat(h *agentapi.Heartbeat) error {
	if len(h.Components) > maxComponents || len(h.Running) > maxRunning {
		return fmt.Errorf("a heartbeat has at most %d components and %d commands", maxComponents, maxRunning)
	}
	for i := range h.Components {
		c := &h.Components[i]
		c.Name, c.Message = line(c.Name, 64), line(c.Message, 1024)
		if c.Status != agentapi.ComponentHealthy {
			c.Status = agentapi.ComponentDegraded
		}
	}
	h.Items, h.Pending, h.Lag = max(h.Items, 0), max(h.Pending, 0), max(h.Lag, 0)
	h.Versions = versions(h.Versions)
	return nil
}

func checkResult(r *agentapi.Result) error {
	switch {
	case !agentapi.ValidID(r.ID):
		return errors.New("the id of the command cannot be one")
	case !r.Status.Final():
		return fmt.Errorf("%.20q is no status that ends a command", r.Status)
	case r.Finished.Year() < 1 || r.Finished.Year() > 9999:
		return errors.New("the time cannot be one")
	}
	r.Code = agentapi.Code(line(string(r.Code), 64))
	r.Message = line(r.Message, agentapi.MaxText)
	if len(r.Body) == 0 {
		return nil
	}
	if len(r.Body) <= agentapi.MaxResult {
		r.Body = legible.JSON(r.Body)
	}
	if err := checkJSON(r.Body, agentapi.MaxResult); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}
