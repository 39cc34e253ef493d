package declare

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// found is one of them as a place holds it.
type found struct {
	obj *unstructured.Unstructured
	// shown is what a list prints of it as JSON: at a server, all that the server says.
	shown any
	agent string
	stale time.Time
}

// id names it where a name alone would not do.
func (f *found) id() string { return api.ItemID(f.agent, f.obj.GetNamespace(), f.obj.GetName()) }

// names are what people can call them by; whole has ids where they have one.
func names(all []found, whole bool) []string {
	count := map[string]int{}
	for _, f := range all {
		count[f.obj.GetName()]++
	}
	var out []string
	for _, f := range all {
		if f.agent != "" && (whole || count[f.obj.GetName()] > 1) {
			out = append(out, f.id())
		} else {
			out = append(out, f.obj.GetName())
		}
	}
	return out
}

// place is where resources of a kind are: a namespace of a cluster, or a server.
type place interface {
	name() string
	list(ctx context.Context) ([]found, error)
	get(ctx context.Context, name string) (found, error)
	create(ctx context.Context, obj *unstructured.Unstructured, upsert, dryRun bool, reason string) (*unstructured.Unstructured, error)
	// change writes the user's edit of base, which was read before; a change by another user in the meantime is an error.
	change(ctx context.Context, base found, obj *unstructured.Unstructured, dryRun bool, reason string) (*unstructured.Unstructured, error)
	remove(ctx context.Context, name string, o removeOptions) error
}

func (k *kind) place(common *connect.Common) (place, error) {
	server, err := common.Server()
	if err != nil {
		return nil, err
	}
	if server != nil {
		return &served{k, server, common.Agent}, nil
	}
	cluster, err := common.Connect()
	if err != nil {
		return nil, err
	}
	in := cluster.Dynamic.Resource(v1alpha1.Resource(k.plural)).Namespace(common.Namespace)
	return &clustered{k, cluster, in, common.Namespace}, nil
}

// clustered are those of a namespace.
type clustered struct {
	k         *kind
	cluster   *connect.Cluster
	in        dynamic.ResourceInterface
	namespace string
}

func (c *clustered) name() string { return "namespace " + c.namespace }

func (c *clustered) list(ctx context.Context) ([]found, error) {
	list, err := c.in.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, c.explain("list", "", err)
	}
	out := make([]found, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, plain(&list.Items[i]))
	}
	slices.SortFunc(out, func(x, y found) int { return strings.Compare(x.obj.GetName(), y.obj.GetName()) })
	return out, nil
}

// plain leaves out what is written by many and not read here.
func plain(obj *unstructured.Unstructured) found {
	unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
	return found{obj: obj, shown: obj.Object}
}

func (c *clustered) get(ctx context.Context, name string) (found, error) {
	obj, err := c.in.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return found{}, c.explain("read", name, err)
	}
	return plain(obj), nil
}

func dry(dryRun bool) []string {
	if dryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func (c *clustered) create(ctx context.Context, obj *unstructured.Unstructured, upsert, dryRun bool,
	_ string,
) (*unstructured.Unstructured, error) {
	var made *unstructured.Unstructured
	var err error
	if upsert {
		made, err = c.in.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: connect.Manager, Force: true, DryRun: dry(dryRun)})
	} else {
		made, err = c.in.Create(ctx, obj, metav1.CreateOptions{FieldManager: connect.Manager, DryRun: dry(dryRun)})
	}
	if err != nil {
		return nil, c.explain("create", obj.GetName(), err)
	}
	return plain(made).obj, nil
}

func (c *clustered) change(ctx context.Context, base found, obj *unstructured.Unstructured, dryRun bool,
	_ string,
) (*unstructured.Unstructured, error) {
	whole := obj.DeepCopy()
	whole.SetResourceVersion(base.obj.GetResourceVersion())
	if status, ok := base.obj.Object["status"]; ok { // not every version of these kinds has it apart
		whole.Object["status"] = status
	}
	made, err := c.in.Update(ctx, whole, metav1.UpdateOptions{FieldManager: connect.Manager, DryRun: dry(dryRun)})
	if err != nil {
		return nil, c.explain("change", obj.GetName(), err)
	}
	return plain(made).obj, nil
}

func (c *clustered) remove(ctx context.Context, name string, o removeOptions) error {
	have, err := c.get(ctx, name)
	if err != nil {
		return err
	}
	if c.k.used != nil && !o.force {
		by, err := c.k.used(ctx, c.cluster, name)
		if err != nil {
			return err
		}
		if len(by) > 0 {
			return fmt.Errorf("%s %s is used by %s: give them another one first, or delete it with --force", c.k.called, name, some(by))
		}
	}
	how := metav1.DeletePropagationBackground // nothing is owned by it that would have to go first
	switch {
	case c.k.cascades && !o.cascade:
		how = metav1.DeletePropagationOrphan
	case c.k.cascades:
		how = metav1.DeletePropagationForeground
	}
	err = c.in.Delete(ctx, name, metav1.DeleteOptions{
		PropagationPolicy: &how, Preconditions: metav1.NewUIDPreconditions(string(have.obj.GetUID())), DryRun: dry(o.dryRun),
	})
	return c.explain("delete", name, err)
}

// some names a few of many.
func some(list []string) string {
	const few = 5
	text := strings.Join(list[:min(few, len(list))], ", ")
	if more := len(list) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (c *clustered) explain(verb, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err) && name != "" && connect.Named(err, name):
		return fmt.Errorf("%s %s does not exist in namespace %s; `slipway %s list -n %s` shows those that do", c.k.called, name, c.namespace,
			c.k.use, c.namespace)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("this cluster has no %s resources; install their CustomResourceDefinition first: %w", c.k.kind, err)
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%s %s exists already in namespace %s; use --upsert to change it", c.k.called, name, c.namespace)
	case apierrors.IsConflict(err):
		return fmt.Errorf("%s %s was changed by another user in the meantime: read it again and repeat the change: %w", c.k.called, name, err)
	}
	return connect.Explain(fmt.Errorf("%s %s %s: %w", verb, c.k.called, name, err))
}

// served are those of all agents of a server.
type served struct {
	k      *kind
	server *connect.Server
	agent  string
}

func (s *served) name() string { return s.server.Place() }

func (s *served) list(ctx context.Context) ([]found, error) {
	items, err := s.k.objects(s.server.Client).All(ctx, api.ItemFilter{})
	if err != nil {
		return nil, s.server.Explain(err)
	}
	var out []found
	for i := range items {
		if !connect.IsAgent(items[i].Agent, s.agent) {
			continue
		}
		f, err := s.found(&items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(x, y found) int {
		return cmp.Or(strings.Compare(x.obj.GetName(), y.obj.GetName()), strings.Compare(x.id(), y.id()))
	})
	return out, nil
}

func (s *served) found(item *api.Item) (found, error) {
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(item.Resource); err != nil {
		return found{}, fmt.Errorf("read %s %s: %w", s.k.called, item.ID(), err)
	}
	out := plain(obj)
	out.shown, out.agent, out.stale = item, item.Agent, item.AsOf
	return out, nil
}

// get finds one by its name, namespace/name or agent/namespace/name.
func (s *served) get(ctx context.Context, name string) (found, error) {
	agent, namespace, short, err := connect.SplitName(name)
	if err != nil {
		return found{}, err
	}
	all, err := s.list(ctx)
	if err != nil {
		return found{}, err
	}
	all = slices.DeleteFunc(all, func(f found) bool {
		return f.obj.GetName() != short || namespace != "" && f.obj.GetNamespace() != namespace || !connect.IsAgent(f.agent, agent)
	})
	switch len(all) {
	case 0:
		return found{}, fmt.Errorf("there is no %s %s at %s, or you may not see it; `slipway %s list` shows those that you see", s.k.called,
			name, s.name(), s.k.use)
	case 1:
		return all[0], nil
	}
	return found{}, iostream.Usagef("there are %d called %s: write one of %s", len(all), name, some(names(all, true)))
}

func (s *served) target(f *found) api.Target {
	return api.Target{Agent: f.agent, Namespace: f.obj.GetNamespace(), Name: f.obj.GetName()}
}

func (s *served) create(ctx context.Context, obj *unstructured.Unstructured, upsert, dryRun bool,
	reason string,
) (*unstructured.Unstructured, error) {
	agent, err := s.server.TheAgent(ctx)
	if err != nil {
		return nil, err
	}
	if err := connect.PlaceAt(agent, obj); err != nil {
		return nil, err
	}
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", s.k.called, obj.GetName(), err)
	}
	done, err := s.k.objects(s.server.Client).Create(ctx, agent.ID, api.ObjectWrite{Resource: raw, Upsert: upsert, Reason: reason}, dryRun)
	if err != nil {
		return nil, s.server.Explain(err)
	}
	return resultOf(done.Result, obj), nil
}

// resultOf is the resource as the agent's cluster holds it, if the agent returned it.
func resultOf(raw json.RawMessage, sent *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	if out.UnmarshalJSON(raw) != nil {
		return sent
	}
	return plain(out).obj
}

func (s *served) change(ctx context.Context, base found, obj *unstructured.Unstructured, dryRun bool,
	reason string,
) (*unstructured.Unstructured, error) {
	whole := obj.DeepCopy()
	whole.SetResourceVersion(base.obj.GetResourceVersion())
	raw, err := whole.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", s.k.called, obj.GetName(), err)
	}
	was, err := withoutStatus(base.obj).MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", s.k.called, obj.GetName(), err)
	}
	done, err := s.k.objects(s.server.Client).Update(ctx, s.target(&base), api.ObjectWrite{Resource: raw, Base: was, Reason: reason}, dryRun)
	if err != nil {
		return nil, s.server.Explain(err)
	}
	return resultOf(done.Result, obj), nil
}

func (s *served) remove(ctx context.Context, name string, o removeOptions) error {
	f, err := s.get(ctx, name)
	if err != nil {
		return err
	}
	err = s.k.objects(s.server.Client.Because(o.reason)).Delete(ctx, s.target(&f),
		client.Removal{Force: o.force, Cascade: o.cascade, DryRun: o.dryRun})
	return s.server.Explain(noun.Forceable(err, o.force || s.k.cascades))
}

func (s *served) forget(ctx context.Context, name, reason string) error {
	f, err := s.get(ctx, name)
	if err != nil {
		return err
	}
	return s.server.Explain(s.k.objects(s.server.Client.Because(reason)).Forget(ctx, s.target(&f)))
}
