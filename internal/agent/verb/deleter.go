package verb

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// maxDeleters bounds how many running deletions are known by their authors.
const maxDeleters = 10_000

// Deleters are the authors of deletions of Applications of an Argo CD, by the UIDs of these: no annotation of ours is written
// there. An agent that starts again does not know earlier authors.
type Deleters struct {
	mu sync.Mutex
	of map[types.UID]v1alpha1.Deletion
}

func (d *Deleters) note(app *v1alpha1.Application, by v1alpha1.Deletion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[types.UID]v1alpha1.Deletion{}
	}
	if len(d.of) < maxDeleters {
		d.of[app.UID] = by
	}
}

// Forget drops an Application that is gone, or was not deleted after all.
func (d *Deleters) Forget(uid types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, uid)
}

// By returns who asked for the deletion of an Application; false where that is not known.
func (d *Deleters) By(app *v1alpha1.Application) (v1alpha1.Deletion, bool) {
	d.mu.Lock()
	by, ok := d.of[app.UID]
	d.mu.Unlock()
	if ok {
		return by, true
	}
	return operate.DeletedBy(app)
}
