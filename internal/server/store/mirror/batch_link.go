package mirror

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
)

// link says of the applications of a batch what they are of.
func (b *batch) link(ctx context.Context) error {
	var apps []delivery.Linkable
	var entries []string
	renamed := false
	for entry, r := range b.last {
		switch r.key.Kind {
		case agentapi.ItemApplication:
			apps = append(apps, delivery.Linkable{
				Namespace: r.key.Namespace, Name: r.key.Name, Scope: r.scope, Labels: r.fields.labels, Destination: r.fields.destination,
			})
			entries = append(entries, entry)
		case agentapi.ItemCluster:
			was, there := b.stored[entry]
			renamed = renamed || !there || was.title != r.fields.title || was.destination != r.fields.destination || was.scope != string(r.scope)
		}
	}
	if len(apps) == 0 && !renamed {
		return nil
	}
	if err := delivery.LockLinks(ctx, b.Tx, false); err != nil {
		return err
	}
	if len(apps) > 0 {
		l, err := delivery.NewLinker(ctx, b.Tx, b.id, apps)
		if err != nil {
			return err
		}
		for i, entry := range entries {
			r := b.last[entry]
			r.linked = l.Of(apps[i])
			b.last[entry] = r
		}
	}
	b.renamed = renamed
	return nil
}

// await notes the new applications of a batch that are to be linked. It comes
// after the lock of links is taken, so no linking passes them over.
func (b *batch) await(ctx context.Context) error {
	if !b.links || len(b.fresh) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Values(b.fresh), func(x, y agentapi.Key) int { return strings.Compare(x.String(), y.String()) })
	rows := make([][]any, len(keys))
	for i, key := range keys {
		rows[i] = []any{b.uid, key.Namespace, key.Name, 0}
	}
	if err := b.Insert(ctx, "unlinked (agent, namespace, name, tries)", rows, " ON CONFLICT (agent, namespace, name) DO NOTHING"); err != nil {
		return fmt.Errorf("note new applications to link: %w", err)
	}
	return nil
}
