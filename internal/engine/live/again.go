package live

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// WaitObject names the wait for an object in Config.Missed.
const WaitObject = "object"

// eventGrace is how long the watch may take to report what a look found before it counts as missed.
const eventGrace = 5 * time.Second

// moving reports whether an object is in transition to another state, for which a caller may wait.
func (r *Record) moving() bool {
	return r.Deleting || r.Behind || r.Assessed && r.Health.Status == health.Progressing
}

// sighting is what a look saw of an object.
type sighting struct {
	rec  Record // as it was known then
	kind object.Kind
	obj  map[string]any // nil: it is gone
}

// LookAgain reads the objects of an Application that are in transition to another state, at most so many, one by one. What
// the watch does not report even after some seconds was missed: it is taken in as if the watch had reported it. It is for a
// slow second look. It returns how many objects it read.
func (c *Cluster) LookAgain(ctx context.Context, app string, most int) (read int) {
	var news []sighting
	for _, rec := range c.index.owned(app) {
		if read == most || ctx.Err() != nil {
			break
		}
		if !rec.moving() {
			continue
		}
		read++
		if f, ok := c.reread(ctx, rec); ok {
			news = append(news, f)
		}
	}
	if len(news) == 0 {
		return read
	}
	timer := time.NewTimer(c.grace)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return read
	case <-timer.C:
	}
	for _, f := range news {
		now, tracked, _ := c.index.get(f.rec.Key)
		if !tracked || now.UID != f.rec.UID || now.Version != f.rec.Version {
			continue // the watch has reported it
		}
		c.missed(WaitObject)
		if f.obj == nil {
			c.index.remove(f.rec.Key, f.rec.UID, f.rec.Version)
		} else {
			c.index.look(f.kind, f.obj)
		}
	}
	return read
}

// reread reads one object, and reports whether it is another one than is known.
func (c *Cluster) reread(ctx context.Context, rec Record) (sighting, bool) {
	res, err := c.catalog.find(ctx, rec.Key.GroupKind(), "")
	if err != nil {
		return sighting{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	f := sighting{rec: rec, kind: res.Kind}
	raw, err := c.stream.Get(ctx, res.Path(res.Version, rec.Key.Namespace, rec.Key.Name))
	if apierrors.IsNotFound(err) {
		return f, true
	}
	if err != nil {
		return f, false // an object that cannot be read now is read by the next look
	}
	if f.obj, err = object.DecodeJSON(raw); err != nil {
		return f, false
	}
	return f, c.index.digest(res.Kind, f.obj).rec.Version > rec.Version // taken in when the watch has had its time
}
