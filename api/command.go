package api

import (
	"encoding/json"
	"time"
)

// States of a command.
const (
	CommandPending = "pending"
	CommandSent    = "sent"
	CommandDone    = "done"
	CommandFailed  = "failed"
	// CommandRefused: the agent does not allow it.
	CommandRefused = "refused"
	// CommandExpired: the deadline passed before the agent took it.
	CommandExpired = "expired"
	// CommandUnknown: the agent began it and does not know how it ended. It is not done again.
	CommandUnknown = "unknown"
)

// Command is what an agent was asked to do, and what came of it.
type Command struct {
	ID     string    `json:"id" doc:"Identifier; an agent executes it once"`
	Agent  string    `json:"agent" doc:"Id of the agent" example:"account.prod"`
	Kind   string    `json:"kind" doc:"Kind of the command" example:"application.sync"`
	Object Ref       `json:"object,omitzero" doc:"Object of the command"`
	By     Principal `json:"by" doc:"Principal that sent the request"`
	Reason string    `json:"reason,omitempty" doc:"Reason"`
	Status string    `json:"status" enum:"pending,sent,done,failed,refused,expired,unknown" doc:"pending, sent, done, failed, refused (by the agent), expired, unknown (begun, but its result was lost; it is not repeated)"`
	// Message says what went wrong and what to do.
	Message    string    `json:"message,omitempty" doc:"Result"`
	CreatedAt  time.Time `json:"createdAt" doc:"Time of the request"`
	Deadline   time.Time `json:"deadline" doc:"Time after which it does not start"`
	FinishedAt time.Time `json:"finishedAt,omitzero" doc:"Time of the result"`
	// Result is what the agent answered, without secrets.
	Result json.RawMessage `json:"result,omitempty" doc:"Response of the agent"`
}
