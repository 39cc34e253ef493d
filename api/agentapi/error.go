package agentapi

import "fmt"

// Code says what an agent, or a caller that waits for one, should do about an error.
type Code string

// The codes of answers to an agent.
const (
	// CodeFenced is the answer to a message with an epoch that is not the present one: another Hello was accepted since. The
	// agent drops the epoch; if it still is the leader in its cluster, it says Hello again.
	CodeFenced Code = "fenced"
	// CodeTwin is the answer to a Hello from another cluster while the holder of the identity is alive. The agent closes the
	// connection, says so loudly, and does not try again before RetryAfter.
	CodeTwin Code = "twin"
	// CodeSuperseded is the answer to a Hello of an agent whose standby took over. It writes nothing any more.
	CodeSuperseded Code = "superseded"
	// CodeRevoked is the answer when the identity is no longer valid. The agent stops trying and says that it must be
	// registered again.
	CodeRevoked Code = "revoked"
	// CodeProtocol is the answer to a Hello of a protocol that the server does not speak. One of the two must be updated.
	CodeProtocol Code = "protocol"
	// CodeEngine is the answer to a Hello of an agent that runs another engine than it was created for. The agent ends, and
	// works on nothing until it is started with the right one, or the server says that it is for this one.
	CodeEngine Code = "engine"
	// CodeMalformed is the answer to what cannot be read or has a value that cannot be. Sending it again is of no use.
	CodeMalformed Code = "malformed"
	// CodeTooLarge is the answer to what exceeds a limit. Sending it again is of no use.
	CodeTooLarge Code = "too-large"
	// CodeStale is the answer to a Batch with a sequence that was passed already. The agent drops it: a later one was
	// acknowledged.
	CodeStale Code = "stale"
	// CodeBusy is the answer when the server cannot take it now. The agent sends it again after RetryAfter.
	CodeBusy Code = "busy"
	// CodeInternal is the answer when the server itself has a fault. The agent sends it again, with backoff.
	CodeInternal Code = "internal"
)

// The codes of Results, set by an agent, and by the server for an agent that cannot be reached.
const (
	// CodeInvalid means that the command or its body is wrong.
	CodeInvalid Code = "invalid"
	// CodeNotFound means that the target does not exist.
	CodeNotFound Code = "not-found"
	// CodeConflict means that the target changed since it was read, or an operation is in progress.
	CodeConflict Code = "conflict"
	// CodePolicy means that the agent's own policy does not allow the command.
	CodePolicy Code = "policy"
	// CodeForbidden means that Kubernetes or the AppProject does not allow it.
	CodeForbidden Code = "forbidden"
	// CodeUnsupported means that the agent does not know the kind of command, or not this option of it.
	CodeUnsupported Code = "unsupported"
	// CodeSignature means that the command was not signed by the server that the agent registered with.
	CodeSignature Code = "signature"
	// CodeExpired means that the deadline passed before the command was begun.
	CodeExpired Code = "expired"
	// CodeInterrupted means that the agent was restarted in the middle of it: it is not known whether it was done.
	CodeInterrupted Code = "interrupted"
	// CodeUnreachable means that the agent could not reach what the command is about, a cluster or a repository.
	CodeUnreachable Code = "unreachable"
	// CodeDisconnected means that the agent has no connection to the server now.
	CodeDisconnected Code = "disconnected"
)

// Error is what a request was refused with. The zero value is not used: no error is a nil pointer.
type Error struct {
	Code Code `json:"code"`
	// Message is for people: what happened and what to do next.
	Message string `json:"message"`
	// RetryAfter is the shortest time, in seconds, before it may be sent again. 0 means that the sender chooses.
	RetryAfter int `json:"retryAfter,omitempty"`
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Message, e.Code) }
