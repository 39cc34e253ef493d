package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// Errors that a store answers with. They may be wrapped.
var (
	// ErrUnknown means that there is no such agent or command.
	ErrUnknown = errors.New("unknown")
	// ErrToken means that a one-time token is unknown, used or expired.
	ErrToken = errors.New("the token is unknown, was used already, or has expired")
	// ErrKeyTaken means that a public key belongs to another agent already.
	ErrKeyTaken = errors.New("the public key belongs to another agent")
	// ErrFenced means that the epoch is not the agent's present one, or that the agent was revoked.
	ErrFenced = errors.New("fenced by a later session")
	// ErrStale means that the sequence of a batch was passed already.
	ErrStale = errors.New("a later batch is stored")
	// ErrExists means that there is a command with this id already.
	ErrExists = errors.New("exists already")
)

// Agents is what is kept of agents.
type Agents interface {
	Registry
	Sessions
}

// Registry is which agents there are.
type Registry interface {
	// RegisterAgent gives the agent that a one-time token is for its keys. It consumes the token in the same transaction
	// (ErrToken), replaces present and next key, sets Health.LastHeartbeat to zero and Revoked to false, increments Epoch, and
	// leaves ClusterUID as it is. ErrKeyTaken where another agent has the key, as present or as next one.
	RegisterAgent(ctx context.Context, tokenHash string, r Registration, now time.Time) (Agent, error)
	// RegisteredWith returns the agent that RegisterAgent gave this key for this token, for as long as the token would count:
	// until it expires, the agent has another key, is revoked, or is given another token. It changes nothing. ErrToken.
	RegisteredWith(ctx context.Context, tokenHash, publicKey string, now time.Time) (Agent, error)
	// AgentByKey finds the agent whose present or next key it is. ErrUnknown where there is none, or it is revoked.
	AgentByKey(ctx context.Context, publicKey string) (Agent, error)
	// AgentByUID finds an agent, revoked or not. ErrUnknown.
	AgentByUID(ctx context.Context, uid string) (Agent, error)
	// LinkedAgents returns every agent that has a public key and is not revoked.
	LinkedAgents(ctx context.Context) ([]Agent, error)
}

// Sessions is how agents that are registered come and go.
type Sessions interface {
	// BeginSession increments Epoch, keeps what the session says, sets the sequence of batches to 0, and returns the agent as
	// it is then. ErrUnknown, ErrFenced where it is revoked.
	BeginSession(ctx context.Context, uid string, s Session, now time.Time) (Agent, error)
	// SaveHealth keeps how an agent is. ErrFenced where epoch is not the present one.
	SaveHealth(ctx context.Context, uid string, epoch int64, h Health) error
	// MarkLost keeps State, Since and Message of a Health whose agent is disconnected, and reports whether it did: not where
	// epoch is not the present one, where it was heard after before, or where the State is that already.
	MarkLost(ctx context.Context, uid string, epoch int64, h Health, before time.Time) (bool, error)
	// SetNextKey keeps the key that an agent will have, or with "" that it will have none. ErrFenced, ErrKeyTaken.
	SetNextKey(ctx context.Context, uid string, epoch int64, publicKey string) error
	// PromoteKey makes the next key, which must be publicKey, the present one. No error where it is the present one already;
	// ErrUnknown where it is neither.
	PromoteKey(ctx context.Context, uid, publicKey string) error
}

// Registration is an agent's request to be registered.
type Registration struct {
	PublicKey  string
	SealKey    []byte
	ClusterUID string
	Namespace  string
	Version    string
}

// Agent is what the gateway needs of an agent.
type Agent struct {
	// UID is in its subjects; ID is what people call it, "account.prod".
	UID, ID string
	// PublicKey is the present key, NextKey one that was announced.
	PublicKey, NextKey string
	Revoked            bool
	// Engine is what it was created for; EngineSlipway where it is empty.
	Engine agentapi.Engine
	// ClusterUID is that of the session begun last; empty before the first.
	ClusterUID string
	// Generation is the highest of a session.
	Generation int64
	// Epoch is that of the session begun last, or of the registration.
	Epoch  int64
	Health Health
}

// Session is what an agent sent at the beginning of a session. A nil SealKey leaves the present one.
type Session struct {
	ClusterUID string
	Namespace  string
	Namespaced bool
	Instance   string
	SealKey    []byte
	Versions   agentapi.Versions
	Generation int64
}

// Health is how an agent is.
type Health struct {
	State agentapi.State
	// Since is when State was entered.
	Since time.Time
	// LastHeartbeat is kept every 30 s at the least, not each time.
	LastHeartbeat time.Time
	Components    []agentapi.Component
	// Pending is how many changes are not acknowledged, Lag the age of the oldest.
	Pending  int
	Lag      time.Duration
	Items    int
	Versions agentapi.Versions
	// Stale is how many copies are kept although the agent has them no more.
	Stale int
	// Message says for people what is wrong; empty where nothing is.
	Message string
	// Twin is the agent of another cluster that last tried to use this identity.
	Twin *Twin
}

// Twin is an agent of another cluster that tried to use an identity.
type Twin struct {
	ClusterUID string
	Address    string
	At         time.Time
}

// Copies is what is kept of what agents have.
type Copies interface {
	// ApplyItems stores the items of a batch, in one transaction that first compares epoch (ErrFenced) and sequence: the one
	// stored last is stored again, an earlier one is ErrStale, and it becomes the one stored last. An item that is stored is
	// not stale any more. It returns the items in the same order.
	ApplyItems(ctx context.Context, uid string, epoch, seq int64, items []agentapi.Item, now time.Time) ([]Changed, error)
	// Entries returns all that is kept of an agent.
	Entries(ctx context.Context, uid string) ([]Entry, error)
	// Reconcile removes copies, marks others as stale, and takes the mark from others again, in one transaction that first
	// compares the epoch (ErrFenced). Keys that are not there are passed over.
	Reconcile(ctx context.Context, uid string, epoch int64, r Reconciliation, now time.Time) ([]Changed, error)
}

// Entry is a copy without its body.
type Entry struct {
	agentapi.Entry
	Stale bool
}

// Reconciliation is what follows from an inventory.
type Reconciliation struct {
	Remove, MarkStale, Unmark []agentapi.Key
}

// Changed is a copy that was written or removed.
type Changed struct {
	Key agentapi.Key
	// Before is the hash it had; empty where it was not there, or was stale. After is the one it has; empty where it is gone
	// or stale. Equal ones mean that nothing changed.
	Before, After string
	// Scope and Labels are those it has, or had when it was removed: every receiver of it must be allowed to see it.
	Scope   string
	Labels  map[string]string
	Removed bool
	// Traceparent is the trace in which it was changed, as the agent says; empty where it says none.
	Traceparent string
}

// Commands is what is kept of commands that change something.
type Commands interface {
	// AddCommand keeps a command as pending, with what is known of it besides a result. ErrExists where the id was used before, by
	// whatever agent; ErrUnknown where there is no such agent.
	AddCommand(ctx context.Context, c Command) error
	// MarkSent makes pending commands sent, and returns the ids of those that are pending or sent (before it or now).
	MarkSent(ctx context.Context, uid string, ids []string, now time.Time) ([]string, error)
	// FinishCommand keeps the result of a command that has none yet, drops its Body, and reports whether it did: a result is
	// kept once. With pendingOnly it does so only where the command was never sent. ErrUnknown where the agent has no such
	// command.
	FinishCommand(ctx context.Context, uid string, r agentapi.Result, pendingOnly bool, now time.Time) (bool, error)
	// OpenCommands returns the commands without a result, in the order they were added: those of one agent, or of all where
	// uid is empty.
	OpenCommands(ctx context.Context, uid string) ([]Command, error)
	// OverdueCommands returns the ids of the commands without a result whose deadline has passed, by the uid of their agent.
	OverdueCommands(ctx context.Context, now time.Time) (map[string][]string, error)
	// GetCommand returns a command and its result, as far as there is one. ErrUnknown.
	GetCommand(ctx context.Context, id string) (Command, error)
}

// Command is a command that is kept.
type Command struct {
	agentapi.Command
	// Trial is agentapi.Trial of it. It is kept, since the body is sealed where it is kept, and goes when there is a result.
	Trial bool
	// Result has the ID, the Status, and the rest once there is a result.
	Result agentapi.Result
}

// Audit gets what belongs in the audit log. It must be quick, or keep what it gets on its own.
type Audit interface {
	// AgentEvents keeps events that agents report, each ID of an agent once. The batch is not acknowledged where it fails.
	AgentEvents(ctx context.Context, agent Agent, events []agentapi.Event) error
	// LinkEvent keeps what happened to a link.
	LinkEvent(ctx context.Context, e LinkEvent)
	// CommandFinished keeps the outcome of a command that changes something. It may be called again for the same one.
	CommandFinished(ctx context.Context, c Command)
}

// Meter measures. Its methods must not block.
type Meter interface {
	// Batch is called for a batch of an agent: of how many items it was, and why it was refused, nil where it was stored.
	Batch(items int, took time.Duration, refused *agentapi.Error)
	// Rejected is called with how many items and events of a batch cannot be kept; it is not called where all can.
	Rejected(items, events int)
	// Command is called for a command that has its result, and how long after it was asked for.
	Command(kind agentapi.Kind, status agentapi.Status, took time.Duration)
	// Missed counts what a slow look found although an event should have reported it, by one of Waits.
	Missed(wait string)
}

// unmetered is a Meter that measures nothing.
type unmetered struct{}

// Batch implements Meter.
func (unmetered) Batch(int, time.Duration, *agentapi.Error) {}

// Rejected implements Meter.
func (unmetered) Rejected(int, int) {}

// Command implements Meter.
func (unmetered) Command(agentapi.Kind, agentapi.Status, time.Duration) {}

// Missed implements Meter.
func (unmetered) Missed(string) {}

// LinkEvent is something that happened to the link of an agent.
type LinkEvent struct {
	Type LinkEventType
	// UID and ID are those of the agent.
	UID, ID string
	// Address is where it came from, as far as it is known.
	Address string
	At      time.Time
	Message string
}

// LinkEventType is what happened to a link.
type LinkEventType string

// The types of LinkEvent.
const (
	LinkRegistered LinkEventType = "agent.registered"
	LinkConnected  LinkEventType = "agent.connected"
	LinkLost       LinkEventType = "agent.disconnected"
	LinkTwin       LinkEventType = "agent.twin"
	LinkEngine     LinkEventType = "agent.engine"
	LinkRotated    LinkEventType = "agent.rotated"
	LinkSuperseded LinkEventType = "agent.superseded"
	LinkPromoted   LinkEventType = "agent.promoted"
	LinkCut        LinkEventType = "agent.cut"
)

// Change is what watchers of the server may want to know. It says that something changed, not how.
type Change struct {
	// UID is that of the agent.
	UID string
	// Agent says that the agent's own health changed; Items which of its copies did; Command which command has its result.
	Agent   bool
	Items   []Changed
	Command string
	// Turn says that the agent went away or came back, so that what is known of its applications is old, or new again.
	Turn Turn
	// Heard means that another server reported it, which has notified those who watch all servers.
	Heard bool
}

// Turn is how the presence of an agent changed.
type Turn string

// The values of Turn; empty where the agent is as present as before.
const (
	// TurnAway: the agent was not heard for DisconnectedAfter, or was cut.
	TurnAway Turn = "away"
	// TurnBack: the agent was away, or had never connected, and is heard.
	TurnBack Turn = "back"
)
