package operate

import (
	"slices"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Version is what one deployment made, hooks left out (Lasting).
type Version struct {
	Entry   *v1alpha1.RevisionHistory
	Objects []object.Manifest
}

// Lost is an object that is gone, and the newest deployment that had it.
type Lost struct {
	Manifest object.Manifest
	Entry    *v1alpha1.RevisionHistory
}

// Past returns the deployments that a restore looks at, the newest first: each is to be rendered as AsDeployed says.
func Past(app *v1alpha1.Application, from *int64) ([]*v1alpha1.RevisionHistory, error) {
	if len(app.Status.History) == 0 {
		return nil, faultf(Conflict, "application %s was not synced yet, so there is nothing to bring back", app.Name)
	}
	var out []*v1alpha1.RevisionHistory
	for i := len(app.Status.History) - 1; i >= 0; i-- {
		if entry := &app.Status.History[i]; from == nil || *from == entry.ID {
			out = append(out, entry)
		}
	}
	if len(out) == 0 {
		return nil, faultf(Missing, "application %s has no deployment %d; `slipway app history %s` lists those that it has",
			app.Name, *from, app.Name)
	}
	return out, nil
}

// AsDeployed is an Application whose sources are those of a deployment, at its revisions.
func AsDeployed(app *v1alpha1.Application, sources []v1alpha1.ApplicationSource, at []string) *v1alpha1.Application {
	out := app.DeepCopy()
	if len(sources) == 0 {
		sources = app.Spec.EffectiveSources()
	}
	out.Spec.Source, out.Spec.SourceHydrator, out.Spec.Sources = nil, nil, slices.Clone(sources)
	for i := range out.Spec.Sources {
		if i < len(at) {
			out.Spec.Sources[i].TargetRevision = at[i]
		}
	}
	if !app.Spec.MultipleSources() && len(out.Spec.Sources) == 1 {
		out.Spec.Source, out.Spec.Sources = &out.Spec.Sources[0], nil
	}
	return out
}

// Lasting leaves hooks out.
func Lasting(objects []object.Manifest) ([]object.Manifest, error) {
	var out []object.Manifest
	for _, m := range objects {
		obj, err := m.Decode()
		if err != nil {
			return nil, err
		}
		if !object.IsHook(obj) {
			out = append(out, m)
		}
	}
	return out, nil
}

// Candidates are the objects of deployments, each with the newest that had it.
func Candidates(past []Version) []Lost {
	seen := map[object.Key]bool{}
	var out []Lost
	for _, v := range past {
		for _, m := range v.Objects {
			if !seen[m.Key] {
				seen[m.Key] = true
				out = append(out, Lost{m, v.Entry})
			}
		}
	}
	return out
}

// Gone are the objects of deployments that are not in the cluster.
func Gone(past []Version, alive map[object.Key]bool) []Lost {
	return slices.DeleteFunc(Candidates(past), func(l Lost) bool { return alive[l.Manifest.Key] })
}

// Restore brings back objects that an earlier deployment had. Without objects it is all that the deployment had which is
// named, and is not alive; without either it only lists what could be brought back.
func Restore(app *v1alpha1.Application, req api.RestoreRequest, past []Version, alive map[object.Key]bool, who Who,
	_ time.Time,
) (Change, error) {
	if err := checkReason(req.Reason); err != nil {
		return Change{}, err
	}
	if len(past) == 0 {
		return Change{}, faultf(Conflict, "no deployment of application %s can be rendered any more; see the warnings", app.Name)
	}
	if len(req.Objects) == 0 && req.From == nil {
		return list(past, alive), nil
	}
	entry, keys, err := find(app, past, alive, req.Objects)
	if err != nil {
		return Change{}, err
	}
	if len(keys) == 0 {
		return nothing("nothing of deployment %d is gone", entry.ID), nil
	}
	verb := "bringing back"
	if req.DryRun {
		verb = "would bring back"
	}
	c := nothing("%s %s from deployment %d", verb, objectsText(keys), entry.ID)
	c.Answer.Deployment, c.Answer.Objects = new(entry.ID), objectsOf(keys)
	for i := range c.Answer.Objects {
		c.Answer.Objects[i].Deployment = new(entry.ID)
	}
	_, c.Answer.Revisions = Deployed(entry)
	if req.DryRun {
		return c, nil
	}
	if err := mayOperate(app); err != nil {
		return Change{}, err
	}
	sync := syncOf(keys)
	sources, at := Deployed(entry)
	deploy(sync, app, slices.Clone(sources), at)
	c.Operation = newOperation(app, sync, who, req.Reason)
	c.Operation.Info = append(c.Operation.Info, v1alpha1.Info{Name: v1alpha1.InfoRestore, Value: v1alpha1.OptionTrue})
	return c.with(held(app)), nil
}

func list(past []Version, alive map[object.Key]bool) Change {
	gone := Gone(past, alive)
	c := nothing("%d objects that were deployed are gone", len(gone))
	switch len(gone) {
	case 0:
		c = nothing("nothing that was deployed is gone")
	case 1:
		c = nothing("1 object that was deployed is gone")
	}
	for _, l := range gone {
		c.Answer.Objects = append(c.Answer.Objects, api.OperationObject{ObjectName: nameOf(l.Manifest.Key), Deployment: new(l.Entry.ID)})
	}
	return c
}

// find returns the objects to bring back, and the newest deployment that had all of them.
func find(app *v1alpha1.Application, past []Version, alive map[object.Key]bool,
	asked []api.ObjectName,
) (*v1alpha1.RevisionHistory, []object.Key, error) {
	if len(asked) == 0 {
		var keys []object.Key
		for _, l := range Gone(past[:1], alive) {
			keys = append(keys, l.Manifest.Key)
		}
		return past[0].Entry, keys, nil
	}
	for _, v := range past {
		if keys := pick(v.Objects, asked); len(keys) == len(asked) {
			return v.Entry, keys, nil
		}
	}
	for _, r := range asked {
		if !slices.ContainsFunc(past, func(v Version) bool { return len(pick(v.Objects, []api.ObjectName{r})) == 1 }) {
			return nil, nil, faultf(Missing, "no deployment that can be looked at had exactly one %s %s; "+
				"`slipway app restore %s --list` lists what is gone",
				kindText(r.Group, r.Kind), placeText(r.Namespace, r.Name), app.Name)
		}
	}
	return nil, nil, faultf(Conflict, "no single deployment had all of these objects; bring them back one by one")
}

// pick returns the one object that each of asked names; it is shorter than asked where that is none, or several.
func pick(objects []object.Manifest, asked []api.ObjectName) []object.Key {
	var out []object.Key
	for _, r := range asked {
		var found []object.Key
		for _, m := range objects {
			if named(r, m.Key) {
				found = append(found, m.Key)
			}
		}
		if len(found) == 1 {
			out = append(out, found[0])
		}
	}
	return out
}

// syncOf is a sync of some objects, without hooks.
func syncOf(keys []object.Key) *v1alpha1.SyncOperation {
	sync := &v1alpha1.SyncOperation{}
	for _, k := range keys {
		sync.Resources = append(sync.Resources,
			v1alpha1.SyncOperationResource{Group: k.Group, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name})
	}
	return sync
}

// deploy has an operation go by the sources and revisions of a deployment.
func deploy(sync *v1alpha1.SyncOperation, app *v1alpha1.Application, sources []v1alpha1.ApplicationSource, at []string) {
	if app.Spec.MultipleSources() || len(sources) > 1 {
		sync.Sources, sync.Revisions = sources, at
		return
	}
	if len(sources) == 1 {
		sync.Source = &sources[0]
	}
	if len(at) == 1 {
		sync.Revision = at[0]
	}
}

// ParseID reads the id of a deployment.
func ParseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 {
		return 0, faultf(Invalid, "%q is no id of a deployment", text)
	}
	return id, nil
}
