// Package record returns what happened: operations in the ledger, the audit, events, and notifications.
package record
