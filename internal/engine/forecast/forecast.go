// Package forecast says what a sync would change, for an engine that only looks on.
package forecast

import (
	"encoding/json"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Forecast is what an engine that only looks on would do.
type Forecast struct {
	Sync    bool        // an automated sync would begin now
	Changes []Would     // that a sync would make
	Owners  []Ownership // that would change hands, without another change
}

// Would is what a sync would do to one object.
type Would struct {
	Key    object.Key
	Verb   diff.Verb // Create, Update or Delete
	Why    string
	Fields []Field // that would change; of an Update
	More   int     // how many others would
}

// Field is a field that would change. Values are JSON, cut where they are long and masked where they are secret; an
// empty one is a field that is not there.
type Field struct {
	Path   string       `json:"path"`
	Live   string       `json:"live,omitempty"`
	Wanted string       `json:"wanted,omitempty"`
	By     []diff.Owner `json:"by,omitempty"` // the manager that set it
}

// Ownership says how an object would change hands without another change.
type Ownership struct {
	Key   object.Key
	From  []string // the field managers whose fields would pass
	Patch string   // the JSON patch that would be sent; its resourceVersion is that of the comparison
}

// What is kept of an Application's would-be changes.
const (
	maxFields  = 20  // of one object
	maxValue   = 160 // bytes of one value
	maxObjects = 1000
)

// Seen is what a sync would make of an object, as long as neither the object nor its manifest is another one.
type Seen struct {
	Hash, Print, Rules uint64
	UID                string
	Would              *Would     // nil where nothing would change
	Owners             *Ownership // nil where no owner would change, or the content would
}

// Known is what was seen of objects.
type Known map[object.Key]Seen

// Sum lists what a sync would do about changes and about the objects of an Application. prunes says whether it would delete.
func (k Known) Sum(changes []diff.Change, objects []object.Key, prunes bool) Forecast {
	var out Forecast
	for _, change := range changes {
		if change.Verb == diff.Keep || len(out.Changes) >= maxObjects {
			continue
		}
		w := Would{Key: change.Key, Verb: change.Verb, Why: change.Why}
		if seen := k[change.Key]; change.Verb == diff.Update && seen.Would != nil {
			w = *seen.Would
		}
		if change.Verb == diff.Delete && !prunes {
			w.Why += "; only a sync that prunes deletes it"
		}
		out.Changes = append(out.Changes, w)
	}
	for _, key := range objects {
		if seen := k[key]; seen.Owners != nil && len(out.Owners) < maxObjects {
			out.Owners = append(out.Owners, *seen.Owners)
		}
	}
	return out
}

// Case is an object as it is, and as a dry run answers that it would be. Marks of owners are none of its fields.
type Case struct {
	Key       object.Key
	Now, Then map[string]any // without what API servers write
	Live      map[string]any // as it is, with the managers of its fields
	Rules     *diff.Rules    // of what is ignored
	Respect   bool           // ignored fields would not be written either
	Why       string
	Mask      []string // names of annotations with secrets
}

// Change lists the fields in which the answer differs from what is live; nil for none.
func (c Case) Change() *Would {
	before, after := c.Now, c.Then
	kept, left := c.Rules.Strip(before), c.Rules.Strip(after)
	if len(diff.FieldChanges(kept, left)) == 0 {
		return nil
	}
	if c.Respect {
		before, after = kept, left
	}
	after, before = diff.Mask(after, before, c.Mask)
	out := &Would{Key: c.Key, Verb: diff.Update, Why: c.Why}
	for _, f := range diff.FieldChanges(before, after) {
		if len(out.Fields) == maxFields {
			out.More++
			continue
		}
		out.Fields = append(out.Fields, Field{
			Path: f.Path.String(), Live: shown(f.Live), Wanted: shown(f.Wanted), By: diff.Owners(c.Live, f.Path),
		})
	}
	return out
}

// shown prints a value as JSON, "" for none.
func shown(v any) string {
	if v == nil {
		return ""
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return legible.Cut(string(raw), maxValue)
}
