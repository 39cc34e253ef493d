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

// AuditEntry is one thing that somebody or something did. Entries are chained: each holds the hash of the one before.
type AuditEntry struct {
	// ID counts the entries from 1, without gaps.
	ID        int64     `json:"id" doc:"Number of the entry" example:"42"`
	At        time.Time `json:"at" doc:"When"`
	Actor     Principal `json:"actor" doc:"Who"`
	IP        string    `json:"ip,omitempty" doc:"From where"`
	UserAgent string    `json:"userAgent,omitempty" doc:"With what"`
	RequestID string    `json:"requestId,omitempty" doc:"Request, as in the server's log"`
	// Action is "<noun>.<verb>".
	Action  string          `json:"action" doc:"What" example:"application.sync"`
	Object  Ref             `json:"object,omitzero" doc:"What with"`
	Reason  string          `json:"reason,omitempty" doc:"Why, as the actor said"`
	Before  json.RawMessage `json:"before,omitempty" doc:"What it was before, without secrets"`
	After   json.RawMessage `json:"after,omitempty" doc:"What it is now, without secrets"`
	Outcome string          `json:"outcome" enum:"succeeded,failed,denied" doc:"How it ended"`
	Message string          `json:"message,omitempty" doc:"Why it failed or was denied"`
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
	OK      bool  `json:"ok" doc:"No entry was changed, removed or put in"`
	Checked int64 `json:"checked" doc:"Entries that were checked"`
	// First is the number of the first entry that does not fit; 0 where all do.
	First   int64  `json:"first,omitempty" doc:"First entry that does not fit"`
	Message string `json:"message" doc:"What was found" example:"the chain of 42 entries is whole"`
	// Head is the hash of the newest entry: keep it elsewhere, and removed newest entries show too.
	Head string `json:"head,omitempty" doc:"Hash of the newest entry, to keep elsewhere"`
}
