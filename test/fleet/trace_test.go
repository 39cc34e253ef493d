package fleet

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// countRuns counts the operations that Applications begin, from what the cluster shows.
func (s *stage) countRuns() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	in := s.client.Resource(applications())
	// What there is by now was asked for by nobody.
	list, err := in.List(ctx, metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	seen := testenv.Watch(ctx, s.t, list.GetResourceVersion(), in.Watch)
	done := make(chan struct{})
	go func() {
		defer close(done)
		last := map[types.UID]v1alpha1.OperationState{}
		for event := range seen {
			live, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			var app v1alpha1.Application
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &app); err != nil || app.Status.OperationState == nil {
				continue
			}
			now, before := *app.Status.OperationState, last[app.UID]
			last[app.UID] = now
			if request(now) == "" || (request(now) == request(before) && (now.Phase == before.Phase || !before.Phase.Completed())) {
				continue
			}
			s.mu.Lock()
			s.runs[request(now)]++
			s.mu.Unlock()
		}
		if ctx.Err() == nil {
			s.t.Error("the watch of the operations ended")
		}
	}()
	s.t.Cleanup(func() {
		cancel()
		<-done
	})
}

// request returns the command that asked for an operation.
func request(op v1alpha1.OperationState) string {
	for _, i := range op.Operation.Info {
		if i.Name == "slipway-request" {
			return i.Value
		}
	}
	return ""
}

// trace says where marks were seen.
type trace struct {
	commands map[string][]api.Command
	applied  map[string]int // marks in the counters
	told     map[string]int // entries of the audit about a request, by mark
	ended    map[string]int // entries of the audit about the end of a command, by mark
	synced   map[string]int // entries of the audit about the end of a sync, by command
	ledger   map[string]int // entries of the ledger, by command
}

func (s *stage) trace() trace {
	s.t.Helper()
	out := trace{
		commands: map[string][]api.Command{}, applied: map[string]int{}, told: map[string]int{}, ended: map[string]int{}, synced: map[string]int{},
		ledger: map[string]int{},
	}
	for _, m := range s.members {
		for _, c := range s.commands(m) {
			out.commands[c.Reason] = append(out.commands[c.Reason], c)
		}
		live, err := s.client.Resource(deployments()).Namespace(m.ns).Get(s.t.Context(), "counter", metav1.GetOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
		for _, c := range containers {
			args, _, _ := unstructured.NestedStringSlice(c.(map[string]any), "args")
			for _, mark := range args {
				out.applied[mark]++
			}
		}
	}
	for _, action := range []string{"resource.patch", "application.sync", "application.refresh"} {
		for _, e := range s.server.audit(s.t, action) {
			out.told[e.Reason]++
		}
	}
	// What became of a command is kept first, and told after that.
	await(s.t, settled, "commands whose outcome the audit does not tell", func(context.Context) string {
		clear(out.ended)
		for _, e := range s.server.audit(s.t, "command.") {
			out.ended[e.Reason]++
		}
		for mark := range out.commands {
			if out.ended[mark] == 0 {
				return mark
			}
		}
		return ""
	}, s.server.Process)
	await(s.t, settled, "syncs that the cluster does not show", func(context.Context) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return out.lacks(s.runs)
	}, s.server.Process)
	await(s.t, settled, "syncs that the audit does not tell of", func(context.Context) string {
		clear(out.synced)
		for _, e := range s.server.audit(s.t, "application.sync.finished") {
			out.synced[e.RequestID]++
		}
		return out.lacks(out.synced)
	}, s.server.Process)
	await(s.t, settled, "syncs that the ledger does not tell of", func(ctx context.Context) string {
		clear(out.ledger)
		filter := api.LedgerFilter{ListOptions: api.ListOptions{Limit: api.MaxLimit}}
		for {
			page, err := s.server.admin.Ledger(ctx, filter)
			if err != nil {
				return err.Error()
			}
			for _, e := range page.Items {
				out.ledger[e.Command]++
			}
			if filter.Cursor = page.NextCursor; filter.Cursor == "" {
				return out.lacks(out.ledger)
			}
		}
	}, s.server.Process)
	return out
}

// lacks names a sync that was done and that is not told of; "" for none.
func (t trace) lacks(told map[string]int) string {
	for mark, commands := range t.commands {
		for _, c := range commands {
			if c.Kind == "application.sync" && c.Status == api.CommandDone && told[c.ID] == 0 {
				return fmt.Sprintf("%s of %s", mark, c.Object.ID)
			}
		}
	}
	return ""
}

// commands returns what an agent was asked to do, once all of it has an outcome.
func (s *stage) commands(m *member) (all []api.Command) {
	s.t.Helper()
	await(s.t, settled, "commands without an outcome", func(ctx context.Context) string {
		all = nil
		for cursor := ""; ; {
			page, err := s.server.admin.AgentCommands(ctx, m.id, api.ListOptions{Limit: api.MaxLimit, Cursor: cursor})
			if err != nil {
				return err.Error()
			}
			all = append(all, page.Items...)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		for _, c := range all {
			if c.Status == api.CommandPending || c.Status == api.CommandSent {
				return fmt.Sprintf("%s %s (%s) is %s", c.Kind, c.ID, c.Reason, c.Status)
			}
		}
		return ""
	}, m.process, s.server.Process)
	return all
}
