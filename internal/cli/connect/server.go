package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

// Server is a server that the user is signed in to.
type Server struct {
	Client *client.Client
	Name   remote.Context

	agent string
	// changed are the resourceVersions with the changes that were asked for in them, by name: until a copy has come that far,
	// it says nothing of what came of it.
	changed map[string]string
	// found are the applications that names stood for, so that one that is gone since can still be spoken of.
	found map[string]api.Target
}

func asClient(err error, into **client.Error) bool { return errors.As(err, into) }

// Place says which server it is.
func (s *Server) Place() string { return "server " + s.Name.Server }

// Explain is ExplainServer for this server.
func (s *Server) Explain(err error) error { return ExplainServer(err, s.Name.Server) }

// Target finds the application that a name stands for: "agent/namespace/name" as it is, less of it where only one fits.
// Once found, a name stands for the same one.
func (s *Server) Target(ctx context.Context, name string) (api.Target, error) {
	if t, ok := s.found[name]; ok {
		return t, nil
	}
	t, err := s.target(ctx, name)
	if err == nil {
		if s.found == nil {
			s.found = map[string]api.Target{}
		}
		s.found[name] = t
	}
	return t, err
}

func (s *Server) target(ctx context.Context, name string) (api.Target, error) {
	agent, namespace, short, err := SplitName(name)
	if err != nil {
		return api.Target{}, err
	}
	if agent == "" {
		agent = s.agent
	}
	if _, _, err := api.ParseID(agent); err == nil && namespace != "" {
		return api.Target{Agent: agent, Namespace: namespace, Name: short}, nil
	}
	all, err := s.Client.AllApplications(ctx, api.ApplicationFilter{
		ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Search: short}}, Namespace: namespace,
	})
	if err != nil {
		return api.Target{}, s.Explain(err)
	}
	all = slices.DeleteFunc(all, func(a api.Application) bool {
		return a.Name != short || (namespace != "" && a.Namespace != namespace) || !IsAgent(a.Agent, agent)
	})
	switch len(all) {
	case 0:
		return api.Target{}, fmt.Errorf("there is no application %s at server %s, or you may not see it; "+
			"`slipway app list` shows those that you see", name, s.Name.Server)
	case 1:
		return api.Target{Agent: all[0].Agent, Namespace: all[0].Namespace, Name: all[0].Name}, nil
	}
	ids := make([]string, 0, len(all))
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	return api.Target{}, iostream.Usagef("there are %d applications %s: write one of %s", len(ids), name,
		strings.Join(ids[:min(len(ids), 10)], ", "))
}

// SplitName takes name, namespace/name or agent/namespace/name apart.
func SplitName(text string) (agent, namespace, name string, err error) {
	parts := strings.Split(text, "/")
	switch {
	case len(parts) > 3 || slices.Contains(parts, ""):
		return "", "", "", iostream.Usagef("%q is no name of an application: write name, namespace/name or agent/namespace/name", text)
	case len(parts) == 3:
		return parts[0], parts[1], parts[2], nil
	case len(parts) == 2:
		return "", parts[0], parts[1], nil
	}
	return "", "", text, nil
}

// IsAgent is true where want is nothing, the id of an agent, or its name.
func IsAgent(id, want string) bool {
	return want == "" || id == want || strings.HasSuffix(id, "."+want)
}

// Application is the application that a name stands for.
func (s *Server) Application(ctx context.Context, name string) (client.Application, error) {
	t, err := s.Target(ctx, name)
	return s.Client.Application(t), err
}

// Get reads one.
func (s *Server) Get(ctx context.Context, name string) (Application, error) {
	app, err := s.Application(ctx, name)
	if err != nil {
		return Application{}, err
	}
	return s.read(ctx, app)
}

func (s *Server) read(ctx context.Context, app client.Application) (Application, error) {
	detail, err := app.Get(ctx)
	if err != nil {
		return Application{}, s.Explain(err)
	}
	out, err := fromResource(detail.Resource, detail.Agent)
	out.Age = detail.Age
	return out, err
}

func fromResource(raw json.RawMessage, agent string) (Application, error) {
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(raw); err != nil {
		return Application{}, fmt.Errorf("read application of agent %s: %w", agent, err)
	}
	app, err := decode(obj)
	app.Agent = agent
	return app, err
}

// List reads those with these labels, of the agent that the command line names.
func (s *Server) List(ctx context.Context, selector string) ([]Application, error) {
	labels, err := equalities(selector)
	if err != nil {
		return nil, err
	}
	all, err := s.Client.AllApplications(ctx, api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Labels: labels}}})
	if err != nil {
		return nil, s.Explain(err)
	}
	out := make([]Application, 0, len(all))
	for i := range all {
		if !IsAgent(all[i].Agent, s.agent) {
			continue
		}
		app, err := fromSummary(&all[i])
		if err != nil {
			return nil, err
		}
		out = append(out, app)
	}
	slices.SortFunc(out, func(x, y Application) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Agent, y.Agent), strings.Compare(x.Namespace, y.Namespace))
	})
	return out, nil
}

// equalities reads a selector of labels that a server can go by: key=value and key, with commas.
func equalities(selector string) (map[string]string, error) {
	if selector == "" {
		return nil, nil
	}
	out := map[string]string{}
	for part := range strings.SplitSeq(selector, ",") {
		key, value, _ := strings.Cut(part, "=")
		value = strings.TrimPrefix(value, "=")
		if key == "" || strings.ContainsAny(part, "!() ") {
			return nil, iostream.Usagef("--selector %q: a server looks for key=value and key only, with commas between them", selector)
		}
		out[key] = value
	}
	return out, nil
}

// fromSummary makes an Application of what a server's list says of it. Raw is that.
func fromSummary(in *api.Application) (Application, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return Application{}, fmt.Errorf("encode application %s: %w", in.ID, err)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal(raw, &obj.Object); err != nil {
		return Application{}, fmt.Errorf("read application %s: %w", in.ID, err)
	}
	app := v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: in.Name, Namespace: in.Namespace, Labels: in.Labels}}
	app.Spec.Project = in.ArgoProject
	app.Spec.Source = &v1alpha1.ApplicationSource{RepoURL: in.RepoURL, Path: in.Path}
	app.Spec.Destination.Name = in.Destination
	if at := strings.LastIndexByte(in.Destination, '/'); at > 0 && in.Destination[at-1] != '/' { // the namespace comes last
		app.Spec.Destination.Name, app.Spec.Destination.Namespace = in.Destination[:at], in.Destination[at+1:]
	}
	app.Status.Sync.Status = v1alpha1.SyncStatusCode(in.Sync)
	app.Status.Sync.Revision = in.Revision
	app.Status.Health.Status = v1alpha1.HealthStatusCode(in.Health)
	return Application{Application: app, Raw: obj, Agent: in.Agent, Age: in.Age}, nil
}

// TheAgent is the agent that the command line names; the only one there is, where it names none.
func (s *Server) TheAgent(ctx context.Context) (api.Agent, error) {
	all, err := s.Client.AgentEntities().All(ctx, api.ListOptions{})
	if err != nil {
		return api.Agent{}, s.Explain(err)
	}
	all = slices.DeleteFunc(all, func(a api.Agent) bool { return !IsAgent(a.ID, s.agent) })
	ids := make([]string, 0, len(all))
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0 && s.agent != "":
		return api.Agent{}, fmt.Errorf("there is no agent %s at server %s, or you may not see it; `slipway agent list` shows those that you see",
			s.agent, s.Name.Server)
	case len(all) == 0:
		return api.Agent{}, fmt.Errorf("server %s has no agent that you may see; make one with `slipway agent create NAME`", s.Name.Server)
	}
	return api.Agent{}, iostream.Usagef("choose an agent with --agent: one of %s", strings.Join(ids[:min(len(ids), 20)], ", "))
}

// PlaceAt puts an object that says no namespace into that of an agent.
func PlaceAt(agent api.Agent, obj *unstructured.Unstructured) error {
	if obj.GetNamespace() != "" {
		return nil
	}
	namespace := ""
	if agent.Hosted != nil {
		namespace = agent.Hosted.Namespace
	}
	if agent.Status.Namespace != "" {
		namespace = agent.Status.Namespace
	}
	if namespace == "" {
		return iostream.Usagef("agent %s has not reported its namespace yet: set it with -n", agent.ID)
	}
	obj.SetNamespace(namespace)
	return nil
}

// Create has an agent make an Application. With upsert one that exists already gets the spec of obj; its labels, annotations and
// finalizers that obj does not have stay.
func (s *Server) Create(ctx context.Context, obj *unstructured.Unstructured, upsert, dryRun bool) (Application, error) {
	agent, raw, err := s.draft(ctx, obj)
	if err != nil {
		return Application{}, err
	}
	write := api.ObjectWrite{Resource: raw, Upsert: upsert}
	if upsert {
		if write.Base, err = s.present(ctx, agent, obj); err != nil {
			return Application{}, s.Explain(err)
		}
	}
	done, err := s.Client.ApplicationObjects().Create(ctx, agent.ID, write, dryRun)
	if err != nil {
		return Application{}, s.Explain(err)
	}
	// The agent answers with the resource as its cluster holds it.
	if made, err := fromResource(done.Result, agent.ID); err == nil {
		return made, nil
	}
	return fromResource(raw, agent.ID)
}

// draft is an Application as it is sent, and the agent that it is for.
func (s *Server) draft(ctx context.Context, obj *unstructured.Unstructured) (api.Agent, json.RawMessage, error) {
	agent, err := s.TheAgent(ctx)
	if err != nil {
		return agent, nil, err
	}
	if err := PlaceAt(agent, obj); err != nil {
		return agent, nil, err
	}
	raw, err := obj.MarshalJSON()
	if err != nil {
		return agent, nil, fmt.Errorf("encode application %s: %w", obj.GetName(), err)
	}
	return agent, raw, nil
}

// present is the Application that obj is to replace, with its spec alone: what obj does not have of that goes, and all else stays.
// It is nil where there is none.
func (s *Server) present(ctx context.Context, agent api.Agent, obj *unstructured.Unstructured) (json.RawMessage, error) {
	detail, err := s.Client.Application(api.Target{Agent: agent.ID, Namespace: obj.GetNamespace(), Name: obj.GetName()}).Get(ctx)
	if api.CodeOf(err) == api.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	have, err := fromResource(detail.Resource, agent.ID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"apiVersion": obj.GetAPIVersion(), "kind": obj.GetKind(),
		"metadata": map[string]any{"name": obj.GetName(), "namespace": obj.GetNamespace()}, "spec": have.Raw.Object["spec"],
	})
}

// Preview has an agent say what an Application would do. With upsert, it is a change of one that is there.
func (s *Server) Preview(ctx context.Context, obj *unstructured.Unstructured, upsert bool) (api.Preview, error) {
	agent, raw, err := s.draft(ctx, obj)
	if err != nil {
		return api.Preview{}, err
	}
	req := api.PreviewRequest{Resource: raw}
	if upsert {
		if req.Base, err = s.present(ctx, agent, obj); err != nil {
			return api.Preview{}, s.Explain(err)
		}
		req.Update = req.Base != nil
	}
	found, err := s.Client.Preview(ctx, agent.ID, req, client.PreviewOptions{})
	return found, s.Explain(err)
}

// Ask passes a request on to the agent.
func (s *Server) Ask(ctx context.Context, name string, request any, _ Make) (api.OperationAnswer, error) {
	app, err := s.Application(ctx, name)
	if err != nil {
		return api.OperationAnswer{}, err
	}
	answer, err := app.Operate(ctx, request)
	if err == nil && answer.Version != "" {
		if s.changed == nil {
			s.changed = map[string]string{}
		}
		s.changed[name] = answer.Version
	}
	return answer, s.Explain(err)
}

// stale is true for a copy from before a change that was asked for.
func (s *Server) stale(name string, app *Application) bool {
	at, ok := s.changed[name]
	if ok && app != nil && older(app.ResourceVersion, at) {
		return true
	}
	delete(s.changed, name)
	return false
}

// older compares two resourceVersions, which Kubernetes lets be compared as numbers.
func older(version, than string) bool {
	a, errA := strconv.ParseUint(version, 10, 64)
	b, errB := strconv.ParseUint(than, 10, 64)
	return errA == nil && errB == nil && a < b
}

// lookAnyway is how often Follow looks without an event: events are a hint, the server's copy is what counts.
const lookAnyway = 2 * time.Second

// patience is how long Follow takes a copy from before a change for an old one. What was asked for may have changed nothing.
const patience = 30 * time.Second

// Follow calls seen after each change, which the server's events report.
func (s *Server) Follow(ctx context.Context, names []string, seen Seen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // of an early return
	open := map[string]client.Application{}
	ids := map[string]string{}
	for _, name := range names {
		app, err := s.Application(ctx, name)
		if err != nil {
			return err
		}
		open[name], ids[api.ItemID(app.Agent, app.Namespace, app.Name)] = app, name
	}
	news := make(chan struct{}, 1)
	poke := func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	broken := make(chan error, 1)
	var told sync.WaitGroup
	defer told.Wait()
	defer cancel()
	told.Go(func() {
		broken <- s.Client.Events(ctx, client.EventOptions{Opened: poke}, func(e api.Event) error {
			if _, ours := ids[e.Object.ID]; ours || e.Type == api.EventReset {
				poke()
			}
			return nil
		})
	})
	return s.look(ctx, open, seen, news, broken)
}

// look reads what is open whenever there are news.
func (s *Server) look(ctx context.Context, open map[string]client.Application, seen Seen, news <-chan struct{}, broken <-chan error) error {
	ticker := time.NewTicker(lookAnyway)
	defer ticker.Stop()
	began := time.Now()
	for {
		for _, name := range sortedNames(open) {
			app, err := s.read(ctx, open[name])
			var present *Application
			switch {
			case err == nil:
				present = &app
			case api.CodeOf(err) != api.CodeNotFound:
				return err
			}
			if s.stale(name, present) && time.Since(began) < patience {
				continue
			}
			done, err := seen(name, present)
			if done {
				delete(open, name)
			}
			if err != nil {
				return err
			}
		}
		if len(open) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-news:
		case <-ticker.C:
		case err := <-broken:
			broken = nil
			if ctx.Err() == nil && api.CodeOf(err) != api.CodeNotFound {
				return s.Explain(err)
			}
		}
	}
}

func sortedNames(open map[string]client.Application) []string {
	out := make([]string, 0, len(open))
	for name := range open {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
