// Package audit keeps the record of all actions: each entry holds the hash of the one before, so that a change of the
// record shows, and none holds a secret.
package audit

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
)

// Entry is one action of a user or a program.
type Entry = api.AuditEntry

// Head is the place of an entry in the chain.
type Head = chain.Head

// Storage keeps entries. ErrNotFound and the like are no part of it: what is not there is zero.
type Storage interface {
	// AppendAudit writes an entry behind the newest one, in one transaction with reading which that is: for every entry the store
	// calls [chain.Link] with the present head and keeps what it gives. Entries of other transactions wait until then. What was
	// redacted by [Prepare] is written as it is; Before and After are text, not jsonb, which would write numbers in another form.
	// An entry with a key that is there already is left out, and gives the zero Entry; "" is no key.
	AppendAudit(ctx context.Context, key string, e Entry) (Entry, error)
	// AuditEntries gives entries with an ID above after, in order of ID.
	AuditEntries(ctx context.Context, after int64, limit int) ([]Entry, error)
	// AuditHead is the newest entry's place, or that of the anchor where no entry is left.
	AuditHead(ctx context.Context) (Head, error)
	// AuditAnchor is the place of the last entry that retention removed; the zero Head where it removed none.
	AuditAnchor(ctx context.Context) (Head, error)
	// PruneAudit removes the entries up to and with that one and makes it the anchor, in one transaction. It refuses to go back
	// behind the present anchor, and to remove the newest entry.
	PruneAudit(ctx context.Context, through Head) error
}
