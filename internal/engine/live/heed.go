package live

import (
	"maps"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// heed is what an Application wants of the metadata of an object that it does not track.
type heed struct {
	labels, annotations map[string]string
	seen                bool // the object was seen since the first call
	differs             bool // it was last seen without some of that
}

// Heed has an Application notified when an object that it does not track loses labels or annotations that it is to have. It
// reports whether the object was last seen without some of them, and whether it was seen since the first call; until then Saw
// may say how it is. The kind of the object has to be watched. Without labels and annotations Heed ends that.
func (c *Cluster) Heed(key object.Key, app string, labels, annotations map[string]string) (differs, seen bool) {
	return c.index.heed(key, app, labels, annotations)
}

// Saw says how an object is that was read or written beside the watch; nil: it does not exist.
func (c *Cluster) Saw(key object.Key, obj map[string]any) { c.index.send(c.index.heeded(key, obj)) }

func (x *index) heed(key object.Key, app string, labels, annotations map[string]string) (differs, seen bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(labels)+len(annotations) == 0 {
		if delete(x.heeds[key], app); len(x.heeds[key]) == 0 {
			delete(x.heeds, key)
		}
		return false, true
	}
	h := x.heeds[key][app]
	if h == nil || !maps.Equal(h.labels, labels) || !maps.Equal(h.annotations, annotations) {
		h = &heed{labels: labels, annotations: annotations}
		if x.heeds[key] == nil {
			x.heeds[key] = map[string]*heed{}
		}
		x.heeds[key][app] = h
	}
	return h.differs, h.seen
}

// heeded compares an object with what Applications want of its metadata, and says which of them must hear that it differs
// now.
func (x *index) heeded(key object.Key, obj map[string]any) []Event {
	x.mu.Lock()
	defer x.mu.Unlock()
	meta := object.Dict(obj, "metadata")
	var events []Event
	for app, h := range x.heeds[key] {
		was := h.differs
		h.seen, h.differs = true, obj != nil &&
			(!has(object.Dict(meta, "labels"), h.labels) || !has(object.Dict(meta, "annotations"), h.annotations))
		if h.differs && !was {
			events = append(events, Event{App: app, Key: key, Why: Drift})
		}
	}
	return events
}

func has(have map[string]any, want map[string]string) bool {
	for name, value := range want {
		if text, is := have[name].(string); !is || text != value {
			return false
		}
	}
	return true
}
