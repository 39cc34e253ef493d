package verb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// site is where an Application deploys to, as people reach it: they read with the agent's rights, within the project's
// rules, and write as the engine would.
type site struct {
	app      *v1alpha1.Application
	instance string // how its objects name it
	d        *place.Destination
	who      place.Actor
	cluster  *live.Cluster
	read     dynamic.Interface
	engine   *engine.Engine
}

// site finds the destination of an Application.
func (v *core) site(ctx context.Context, app *v1alpha1.Application) (*site, error) {
	d, who, err := v.Clusters.Reach(ctx, app.Spec.ProjectName(), app.Spec.Destination)
	if err != nil {
		return nil, err
	}
	p := &site{
		app: app, instance: object.InstanceName(app.Namespace, app.Name, v.Namespace), d: d, who: who, cluster: d.Target.Live, engine: v.Engine,
	}
	p.read, err = d.Client(place.Actor{})
	return p, err
}

// write returns the client for changes, or why nothing may be changed.
func (p *site) write() (dynamic.Interface, error) {
	if p.who.Denial != "" {
		return nil, command.Refuse(agentapi.CodeForbidden, "%s", p.who.Denial)
	}
	return p.d.Client(p.who)
}

// versioned is an object and the version to read it at; "" for the one that the cluster prefers.
type versioned struct {
	object.Key
	Version string
}

// of returns the client of one object.
func of(c dynamic.Interface, res live.Resource, version, namespace string) dynamic.ResourceInterface {
	in := c.Resource(schema.GroupVersionResource{Group: res.Kind.Group, Version: version, Resource: res.Plural})
	if res.Namespaced {
		return in.Namespace(namespace)
	}
	return in
}

// readOne reads an object with its managed fields; nil where it does not exist, or its kind does not.
func (p *site) readOne(ctx context.Context, want versioned) (map[string]any, error) {
	res, err := p.cluster.Find(ctx, want.GroupKind(), want.Version)
	if unknownKind(err) && want.Version != "" {
		res, err = p.cluster.Find(ctx, want.GroupKind(), "")
		want.Version = ""
	}
	if unknownKind(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if want.Version == "" {
		want.Version = res.Version
	}
	obj, err := of(p.read, res, want.Version, want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", want.Key, err)
	}
	return obj.Object, nil
}

func unknownKind(err error) bool {
	var unknown *live.UnknownKindError
	return errors.As(err, &unknown)
}

// readers is how many objects are read together.
const readers = 8

// readAll reads objects; those that are missing are left out.
func (p *site) readAll(ctx context.Context, asked []versioned) (map[object.Key]map[string]any, error) {
	out := make(map[object.Key]map[string]any, len(asked))
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for _, a := range asked {
		g.Go(func() error {
			obj, err := p.readOne(ctx, a)
			if err != nil || obj == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			out[a.Key] = obj
			return nil
		})
	}
	return out, g.Wait()
}

// readSome reads what may be read of some objects, and says of the others why not. It fails where that is all of them.
func (p *site) readSome(ctx context.Context, asked []versioned) (found map[object.Key]map[string]any, unread []string, err error) {
	found = make(map[object.Key]map[string]any, len(asked))
	var mu sync.Mutex
	var refused error
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for _, a := range asked {
		g.Go(func() error {
			obj, err := p.readOne(ctx, a)
			if err != nil && !refusedOne(err) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused, unread = err, append(unread, fmt.Sprintf("%s could not be read: %v", a.Key, err))
			} else if obj != nil {
				found[a.Key] = obj
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	if refused != nil && len(unread) == len(asked) {
		return nil, nil, refused
	}
	slices.Sort(unread)
	return found, unread, nil
}

// refusedOne reports whether an API server answers, and does not give this object.
func refusedOne(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)
}

// subject is an object that a command is about, and how it is reached.
type subject struct {
	key     object.Key
	res     live.Resource
	version string
	obj     map[string]any // nil where it is not there
	ours    bool           // it belongs to the Application
}

func (s *subject) on(c dynamic.Interface) dynamic.ResourceInterface {
	return of(c, s.res, s.version, s.key.Namespace)
}

// find reads the object that a command names. The object itself, or its owner, shows whether it belongs to the
// Application: any user who may write the Application can write its status. The project must permit it.
func (p *site) find(ctx context.Context, ref api.ResourceRef) (*subject, error) {
	s := &subject{key: object.Key{Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}}
	if ref.Kind == "" || ref.Name == "" {
		return nil, command.Refuse(agentapi.CodeInvalid, "give kind and name of the object")
	}
	var err error
	if s.res, err = p.cluster.Find(ctx, s.key.GroupKind(), ref.Version); err != nil {
		return nil, err
	}
	if s.version = ref.Version; s.version == "" {
		s.version = s.res.Version
	}
	switch {
	case !s.res.Namespaced:
		s.key.Namespace = ""
	case s.key.Namespace == "":
		s.key.Namespace = p.app.Spec.Destination.Namespace
	}
	if s.obj, err = p.readOne(ctx, versioned{s.key, s.version}); err != nil {
		return nil, err
	}
	if s.obj != nil {
		// What an object is, and so whether it is shown, is decided by the object and never by what asks for it.
		u := unstructured.Unstructured{Object: s.obj}
		if gk := u.GroupVersionKind().GroupKind(); gk.Group != s.key.Group || gk.Kind != s.key.Kind || u.GetName() != s.key.Name ||
			u.GetNamespace() != s.key.Namespace {
			return nil, command.Refuse(agentapi.CodeInvalid,
				"the API server answers with another object than %s: correct group, version and kind", s.key)
		}
	}
	root := s.key
	if s.obj != nil {
		if root, s.ours, err = p.root(ctx, s.key, s.obj); err != nil {
			return nil, err
		}
	}
	if !s.ours {
		root = s.key
	}
	if err := p.engine.Permits(p.app)(root, s.key.Namespace); err != nil {
		return nil, err
	}
	return s, nil
}

// own is find for commands that need the object to be there, and the Application's.
func (p *site) own(ctx context.Context, ref api.ResourceRef) (*subject, error) {
	s, err := p.find(ctx, ref)
	switch {
	case err != nil:
		return nil, err
	case s.obj == nil:
		return nil, command.Refuse(agentapi.CodeNotFound, "%s does not exist", s.key)
	case !s.ours:
		return nil, command.Refuse(agentapi.CodeForbidden, "%s does not belong to application %s; `slipway app tree %s` shows what does", s.key,
			p.app.Name, p.app.Name)
	}
	return s, nil
}

// maxAncestors bounds a look at what owns an object.
const maxAncestors = 16

// root returns the object of the Application that an object is, or that owns it.
func (p *site) root(ctx context.Context, key object.Key, obj map[string]any) (object.Key, bool, error) {
	type ancestor struct {
		key object.Key
		obj map[string]any
	}
	open := []ancestor{{key, obj}}
	seen := map[object.Key]bool{key: true}
	for len(open) > 0 {
		a := open[0]
		open = open[1:]
		if owner, _ := p.cluster.Tracking.Owner(a.obj, a.key); owner == p.instance {
			return a.key, true, nil
		}
		u := unstructured.Unstructured{Object: a.obj}
		for _, ref := range u.GetOwnerReferences() {
			group, _ := object.SplitAPIVersion(ref.APIVersion)
			k := object.Key{Group: group, Kind: ref.Kind, Name: ref.Name}
			res, err := p.cluster.Find(ctx, k.GroupKind(), "")
			if unknownKind(err) {
				continue
			}
			if err != nil {
				return object.Key{}, false, err
			}
			if res.Namespaced {
				k.Namespace = a.key.Namespace
			}
			if seen[k] || len(seen) > maxAncestors {
				continue
			}
			seen[k] = true
			owner, err := p.readOne(ctx, versioned{k, res.Version})
			if err != nil {
				return object.Key{}, false, err
			}
			if above := (unstructured.Unstructured{Object: owner}); owner != nil && above.GetUID() == ref.UID {
				open = append(open, ancestor{k, owner})
			}
		}
	}
	return object.Key{}, false, nil
}
