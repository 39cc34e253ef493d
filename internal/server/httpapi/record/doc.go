// Package record tells what happened: operations in the ledger, the audit, events, and who was notified of what.
package record
