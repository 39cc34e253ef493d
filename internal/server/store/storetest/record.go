package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// content is a manifest as an agent sends it.
func content(t *testing.T, text string) gateway.Content {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	sum := sha256.Sum256([]byte(text))
	return gateway.Content{
		Hash: hex.EncodeToString(sum[:]), Packed: e.EncodeAll([]byte(text), nil), Size: len(text), Images: []string{"image:" + text},
	}
}

// HashOf is the hash of a manifest.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ObjectKey names a ConfigMap.
func ObjectKey(name string) api.LedgerKey {
	return api.LedgerKey{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
}

// RecordOf is an operation on the application web that ended some minutes after noon. Objects are name and content.
func RecordOf(id string, minute int, objects map[string]string, edit ...func(*api.LedgerDetail)) gateway.Record {
	at := time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
	d := api.LedgerDetail{LedgerEntry: api.LedgerEntry{
		Namespace: "argocd", Name: "web", ApplicationUID: "u", ArgoProject: "default", Action: api.LedgerSync, Phase: "Succeeded",
		Revision: "rev-" + id,
		Sources:  []api.LedgerSource{{Revision: "rev-" + id}}, StartedAt: at.Add(-time.Second), FinishedAt: at,
	}}
	for name, text := range objects {
		d.Objects = append(d.Objects, api.LedgerObject{LedgerKey: ObjectKey(name), Hash: HashOf(text)})
		d.Changes = append(d.Changes, api.LedgerChange{LedgerKey: ObjectKey(name), Verb: api.LedgerChanged, Outcome: "Succeeded"})
	}
	for _, e := range edit {
		e(&d)
	}
	return gateway.Record{ID: id, LedgerDetail: d}
}

// Record stores records, and the contents that are lacking of those given.
func (b *Bench) Record(t *testing.T, a api.Agent, epoch int64, contents []string, records ...gateway.Record) gateway.RecordAnswer {
	t.Helper()
	answer := Must[gateway.RecordAnswer](t)(b.KeepRecords(t.Context(), a.UID, epoch, gateway.RecordBatch{Records: records}, b.Clock.Now()))
	var more gateway.RecordBatch
	for _, text := range contents {
		if slices.Contains(answer.Lacks, HashOf(text)) {
			more.Contents = append(more.Contents, content(t, text))
		}
	}
	Must[gateway.RecordAnswer](t)(b.KeepRecords(t.Context(), a.UID, epoch, more, b.Clock.Now()))
	return answer
}

// Entry writes an entry of the audit.
func (b *Bench) Entry(action string, object api.Ref) audit.Entry {
	return audit.Entry{
		At: b.Clock.Now(), Actor: api.Principal{Type: "user", ID: "ada"}, IP: "10.0.0.1", UserAgent: "cli", RequestID: "r",
		Action: action, Object: object,
		Reason: "it was <late> & dark", Outcome: api.OutcomeSucceeded, Message: "done",
		Before: json.RawMessage(`{"b": 1.0, "a":"<x>"}`), After: json.RawMessage(`{"big":12345678901234567890}`),
	}
}

// Verify checks the chain as it is stored.
func (b *Bench) Verify(t *testing.T) int64 {
	t.Helper()
	v := chain.NewVerifier(Must[audit.Head](t)(b.AuditAnchor(t.Context())))
	for after := int64(0); ; {
		entries := Must[[]audit.Entry](t)(b.AuditEntries(t.Context(), after, 7))
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if err := v.Next(e); err != nil {
				t.Fatal(err)
			}
			after = e.ID
		}
	}
	if err := v.End(Must[audit.Head](t)(b.AuditHead(t.Context()))); err != nil {
		t.Fatal(err)
	}
	return v.Checked()
}
