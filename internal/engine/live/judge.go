package live

import (
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Judge makes an object be compared by rules from now on, nil for none, and returns its record. When they say something
// else than those before, the object has no fingerprint until it is settled again.
func (c *Cluster) Judge(key object.Key, rules *diff.Rules) Record { return c.index.judge(key, rules) }

// Look takes an object into the index that was read from the API server, as if its watch had delivered it, and returns
// its record. The object must be at res.Version.
func (c *Cluster) Look(res Resource, obj map[string]any) Record { return c.index.look(res.Kind, obj) }

func (x *index) judge(key object.Key, rules *diff.Rules) Record {
	x.mu.Lock()
	defer x.mu.Unlock()
	if rules == nil {
		delete(x.rules, key)
	} else {
		x.rules[key] = rules
	}
	rec := x.records[key]
	if rec == nil {
		return Record{}
	}
	if rec.Rules.ID() == rules.ID() {
		return *rec
	}
	fresh := *rec
	fresh.Wanted, fresh.Applied = 0, 0
	if obj := rec.Body(); obj != nil {
		fresh.Rules = rules.OfHolders(rec.first.holders)
		fresh.Print = fresh.Rules.Print(obj, fresh.Fields)
	}
	x.records[key] = &fresh
	x.apps[fresh.App][key] = &fresh
	return fresh
}

func (x *index) look(kind object.Kind, obj map[string]any) Record {
	o := x.digest(kind, obj)
	x.mu.Lock()
	var events []Event
	if old := x.records[o.rec.Key]; old == nil || old.Version != o.rec.Version {
		events = x.put(o)
	} else if old.Wanted == 0 {
		events = x.store(old, &o.rec)
	}
	rec := o.rec
	if now := x.records[rec.Key]; now != nil {
		rec = *now
	}
	x.mu.Unlock()
	x.send(events)
	return rec
}
