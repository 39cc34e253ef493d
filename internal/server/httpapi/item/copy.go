package item

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// copyTime is how long an answer waits for the server's copy of what it is about. The agent has done what was asked, so
// that a copy which is later than this is no error. It takes milliseconds, and much longer on a machine that has much else to do.
const copyTime = 10 * time.Second

// Copied waits until the server's copy of a resource has come as far as what its agent answered. The author must Find
// there what they made: the copy takes a way of its own, and may be later than the answer.
func (h *Clusters) Copied(ctx context.Context, kind string, in Input, answer json.RawMessage) {
	if version := stateOf(answer).version; version > 0 {
		h.await(ctx, kind, in, func(there state) bool { return there.version >= version })
	}
}

// Dropped waits until the server's copy of a resource is gone, or says that it is being deleted: what has finalizers stays
// until they are done, which takes as long as it takes.
func (h *Clusters) Dropped(ctx context.Context, kind string, in Input, before any) {
	raw, _ := before.(json.RawMessage)
	uid := stateOf(raw).uid
	h.await(ctx, kind, in, func(there state) bool { return there.gone || there.deleted || there.uid != uid })
}

// await looks at the server's copy with every event about it, until it is as wanted or copyTime is over.
func (h *Clusters) await(ctx context.Context, kind string, in Input, wanted func(state) bool) {
	ctx, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	events, err := h.Events.Subscribe(ctx, "") // before the look, so that nothing is missed between the two
	if err != nil {
		return
	}
	id := api.ItemID(in.Agent, in.Namespace, in.Name)
	for {
		there, err := h.FindItem(ctx, kind, in.Agent, in.Namespace, in.Name)
		raw, _ := ResourceOf(there).(json.RawMessage)
		have := stateOf(raw)
		item, _ := there.Value.(*api.Item)
		have.gone = api.CodeOf(err) == api.CodeNotFound || item != nil && !item.StaleSince.IsZero()
		if (err == nil || have.gone) && wanted(have) {
			return
		}
		if !toldOf(events, id) {
			return
		}
	}
}

// toldOf waits for an event about something, and reports whether there was one before the events ended.
func toldOf(events <-chan api.Event, id string) bool {
	for e := range events {
		if e.Object.ID == id || e.Type == api.EventReset {
			return true
		}
	}
	return false
}

// state is how far a copy has come.
type state struct {
	// Version is the resourceVersion as a number: Kubernetes lets versions of one resource be compared so.
	version uint64
	uid     string
	deleted bool // it is there until its finalizers are done
	gone    bool
}

// stateOf reads a resource, or a setting as the copy or an agent's answer has it.
func stateOf(resource json.RawMessage) state {
	var read struct {
		Metadata struct {
			ResourceVersion   string     `json:"resourceVersion"`
			UID               string     `json:"uid"`
			DeletionTimestamp *time.Time `json:"deletionTimestamp"`
		} `json:"metadata"`
		Version string `json:"version"` // of a setting
		Setting struct {
			Version string `json:"version"`
		} `json:"setting"`
	}
	if strict.Decode(resource, &read, strict.Foreign) != nil {
		return state{}
	}
	out := state{uid: read.Metadata.UID, deleted: read.Metadata.DeletionTimestamp != nil}
	out.version, _ = strconv.ParseUint(cmp.Or(read.Metadata.ResourceVersion, read.Version, read.Setting.Version), 10, 64)
	return out
}
