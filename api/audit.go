package api

import (
	"encoding/json"
	"time"
)

// Outcomes in the audit.
const (
	OutcomeSucceeded = "succeeded"
	OutcomeFailed    = "failed"
	OutcomeDenied    = "denied"
)

// AuditEntry is one action of a user or a program. Entries are chained: each holds the hash of the one before.
type AuditEntry struct {
	// ID counts the entries from 1, without gaps.
	ID        int64     `json:"id" doc:"Number of the entry" example:"42"`
	At        time.Time `json:"at" doc:"Time"`
	Actor     Principal `json:"actor" doc:"Principal that acted"`
	IP        string    `json:"ip,omitempty" doc:"Address of the client"`
	UserAgent string    `json:"userAgent,omitempty" doc:"User agent of the client"`
	RequestID string    `json:"requestId,omitempty" doc:"Request, as in the server's log"`
	// Action is "<noun>.<verb>".
	Action  string          `json:"action" doc:"Action" example:"application.sync"`
	Object  Ref             `json:"object,omitzero" doc:"Object of the action"`
	Reason  string          `json:"reason,omitempty" doc:"Reason that the actor gave"`
	Before  json.RawMessage `json:"before,omitempty" doc:"Previous state, without secrets"`
	After   json.RawMessage `json:"after,omitempty" doc:"New state, without secrets"`
	Outcome string          `json:"outcome" enum:"succeeded,failed,denied" doc:"Result"`
	Message string          `json:"message,omitempty" doc:"Reason for the failure or denial"`
	// PrevHash and Hash are SHA-256 in lower-case hex.
	PrevHash string `json:"prevHash,omitempty" doc:"Hash of the entry before"`
	Hash     string `json:"hash" doc:"Hash of this entry and the one before"`
}

// AuditFilter says which entries are wanted. The newest come first, unless Sort is "id".
type AuditFilter struct {
	ListOptions
	// ID is the number of the only entry that is wanted; 0 for all.
	ID int64
	// Actor is an id; "" for all.
	Actor string
	// Action is one action or a noun with a dot, "application."; "" for all.
	Action     string
	ObjectType string
	ObjectID   string
	Outcome    string
	RequestID  string
	// From and To bound the time, the second excluded; zero for no bound.
	From, To time.Time
}

// AuditVerification says whether the chain is whole.
type AuditVerification struct {
	OK      bool  `json:"ok" doc:"No entry was changed, removed or inserted"`
	Checked int64 `json:"checked" doc:"Number of checked entries"`
	// First is the number of the first entry that does not fit; 0 where all do.
	First   int64  `json:"first,omitempty" doc:"First entry that breaks the chain"`
	Message string `json:"message" doc:"Result of the verification" example:"the chain of 42 entries is whole"`
	// Head is the hash of the newest entry: keep it elsewhere, and removed newest entries show too.
	Head string `json:"head,omitempty" doc:"Hash of the newest entry, to keep elsewhere"`
}
