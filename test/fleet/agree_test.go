package fleet

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// clockStep is how exact the times are that resources say.
const clockStep = time.Second

// namespace makes one in a cluster that goes with the test.
func namespace(t *testing.T, client dynamic.Interface, name string) {
	t.Helper()
	_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": corev1.SchemeGroupVersion.String(), "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// fails waits until the sync of a commit has failed, and returns when that was, as the Application says.
func (st *harbour) fails(commit string) (at time.Time) {
	st.t.Helper()
	await(st.t, settled, "the sync of what is broken", func(ctx context.Context) string {
		app, err := st.client.Resource(applications()).Namespace(st.target.Namespace).Get(ctx, st.target.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		text := func(path ...string) string { text, _, _ := unstructured.NestedString(app.Object, path...); return text }
		if phase := text("status", "operationState", "phase"); phase != "Failed" || text("status", "operationState", "syncResult", "revision") != commit {
			return fmt.Sprintf("the operation is %q", phase)
		}
		at, err = time.Parse(time.RFC3339, text("status", "operationState", "finishedAt"))
		if err != nil {
			return err.Error()
		}
		return ""
	}, st.agent)
	return at
}

// last is what arrived here last.
func (st *harbour) last() arrival { return st.arrived[len(st.arrived)-1] }

// whereIs waits until the matrix of the server is what the clusters run.
func whereIs(t *testing.T, stages ...*harbour) {
	t.Helper()
	await(t, settled, "what runs where", func(ctx context.Context) string {
		rows, err := stages[0].server.admin.AllServiceRows(ctx, api.ServiceFilter{})
		if err != nil || len(rows) != 1 || len(rows[0].Cells) != len(stages) {
			return fmt.Sprintf("the server has %+v, %v", rows, err)
		}
		for _, st := range stages {
			image, count, problem := st.live(ctx)
			if problem != "" {
				return problem
			}
			i := slices.IndexFunc(rows[0].Cells, func(c api.ServiceCell) bool { return c.Environment == st.environment })
			if i < 0 {
				return st.environment + " is missing"
			}
			cell := rows[0].Cells[i]
			have := fmt.Sprintf("%s:%s at %s, %d of %d, %s", cell.Image, cell.Tag, cell.Commit, cell.Ready, cell.Total, cell.Health)
			if want := fmt.Sprintf("%s at %s, %d of %d, Healthy", image, st.last().commit, count, count); have != want {
				return fmt.Sprintf("%s: the server says %s, the cluster %s", st.environment, have, want)
			}
		}
		// Who is behind, as the images say.
		var behind []string
		for _, st := range stages {
			if st.last().image < stages[0].last().image {
				behind = append(behind, st.environment)
			}
		}
		var said []string
		for _, d := range rows[0].Drift {
			said = append(said, d.Environment)
		}
		return cmp.Diff(behind, said)
	}, stages[0].server.Process)
}

// ranAt checks what the ledger says ran at a time; the zero one for now.
func (st *harbour) ranAt(when time.Time, commit string) {
	st.t.Helper()
	i := slices.IndexFunc(st.arrived, func(a arrival) bool { return a.commit == commit })
	want := commit + " " + st.arrived[i].image
	await(st.t, settled, "what ran at "+when.String(), func(ctx context.Context) string {
		page, err := st.server.admin.LedgerAt(ctx, when, st.ledger())
		if err != nil || len(page.Items) != 1 {
			return fmt.Sprintf("%d applications, %v", len(page.Items), err)
		}
		have := page.Items[0].Entry.Revision
		for _, o := range page.Items[0].Objects {
			if o.Kind == "Deployment" {
				have += " " + strings.Join(o.Images, ",")
			}
		}
		return cmp.Diff(want, have)
	}, st.server.Process)
}

// objectOf is the object of a file, as its name says.
func objectOf(file string) string { return strings.TrimSuffix(path.Base(file), ".yaml") }

// differs checks what the ledger says differs between two times against what git says differs between what ran then.
func (st *harbour) differs(repo *testenv.GitRepo, from, to time.Time, before, after string) {
	st.t.Helper()
	words := map[string]string{"A": "added", "M": "changed", "D": "removed"}
	var want []string
	for line := range strings.Lines(git(st.t, repo, "diff", "--name-status", before, after)) {
		how, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		want = append(want, objectOf(file)+" "+words[how])
	}
	filter := st.ledger()
	filter.From, filter.To = from, to
	found, err := st.server.admin.LedgerDiff(st.t.Context(), filter, false)
	if err != nil {
		st.t.Fatal(err)
	}
	var have []string
	for _, d := range found.Differences {
		have = append(have, d.Kind+"-"+d.Name+" "+d.Change)
	}
	slices.Sort(want)
	slices.Sort(have)
	if d := cmp.Diff(want, have); d != "" {
		st.t.Errorf("%s: what differs (-git +ledger):\n%s", st.environment, d)
	}
}

// changed checks every change to the Deployment against the commits that touched it.
func (st *harbour) changed(repo *testenv.GitRepo) {
	st.t.Helper()
	want := strings.Fields(git(st.t, repo, "log", "--format=%H", "main", "--", "web/Deployment-web.yaml"))
	filter := st.ledger()
	filter.Kind, filter.ObjectGroup, filter.Object = "Deployment", "apps", "web"
	page, err := st.server.admin.LedgerObject(st.t.Context(), filter)
	if err != nil {
		st.t.Fatal(err)
	}
	var have, told []string
	for _, c := range page.Items {
		have = append(have, c.Entry.Revision)
		told = append(told, fmt.Sprintf("%s %s %s: from %s to %s, recovered %t, %d retries: %s", c.Entry.Revision, c.Change.Verb, c.Entry.ID,
			c.Entry.StartedAt.Format(time.RFC3339Nano), c.Entry.FinishedAt.Format(time.RFC3339Nano), c.Entry.Recovered, c.Entry.Retries, c.Change.Message))
	}
	if d := cmp.Diff(want, have); d != "" {
		st.t.Errorf("%s: changes of the Deployment (-git +ledger):\n%s\n%s", st.environment, d, strings.Join(told, "\n"))
	}
}

// between reports whether a quantile lies in the middle of what the shortest and the longest times may be.
func between(q *float64, rank float64, low, high []time.Duration) string {
	if q == nil {
		return "it is missing"
	}
	slices.Sort(low)
	slices.Sort(high)
	i := int(math.Ceil(rank*float64(len(low)))) - 1
	have := time.Duration(*q * float64(time.Second))
	if have < low[i]-clockStep || have > high[i]+clockStep {
		return fmt.Sprintf("it is %s, and at least %s, at most %s by git and cluster", have, low[i], high[i])
	}
	return ""
}

// delivered checks the figures of delivery. failed is when the sync of what is broken had ended in staging.
func delivered(t *testing.T, began time.Time, staging, production *harbour, failed time.Time) {
	t.Helper()
	s := staging.server
	await(t, settled, "the figures of delivery", func(ctx context.Context) string {
		report, err := s.admin.DORA(ctx, api.DORAFilter{LedgerFilter: api.LedgerFilter{From: began}, Group: api.GroupEnvironment})
		if err != nil {
			return err.Error()
		}
		days := report.To.Sub(began).Hours() / 24
		for _, of := range []struct {
			*harbour
			failures int64
		}{{staging, 1}, {production, 0}} {
			i := slices.IndexFunc(report.Groups, func(r api.DORARow) bool { return r.Name == of.environment })
			if i < 0 {
				return of.environment + " is missing"
			}
			got := &report.Groups[i].DORA
			n := int64(len(of.arrived))
			want := api.DORA{Deployments: n, Changes: n + of.failures, Failures: of.failures}
			have := api.DORA{Deployments: got.Deployments, Changes: got.Changes, Failures: got.Failures, Unrestored: got.Unrestored}
			if d := cmp.Diff(want, have); d != "" {
				return of.environment + " (-git and cluster +server):\n" + d
			}
			if rate := float64(of.failures) / float64(n+of.failures); got.FailureRate == nil || math.Abs(*got.FailureRate-rate) > 1e-9 || math.Abs(got.PerDay-float64(n)/days) > 0.01*got.PerDay {
				return fmt.Sprintf("%s: rate %v, not %v; %v a day, not %v", of.environment, got.FailureRate, rate, got.PerDay, float64(n)/days)
			}
			var low, high []time.Duration
			for _, a := range of.arrived {
				low, high = append(low, a.asked.Sub(a.committed)), append(high, a.seen.Sub(a.committed))
			}
			if got.LeadTime.Count != n {
				return fmt.Sprintf("%s: %d lead times, not %d", of.environment, got.LeadTime.Count, n)
			}
			for rank, q := range map[float64]*float64{0.5: got.LeadTime.P50, 0.99: got.LeadTime.P99} {
				if problem := between(q, rank, low, high); problem != "" {
					return fmt.Sprintf("%s: lead time %v: %s", of.environment, rank, problem)
				}
			}
			if got.Restore.Count != of.failures {
				return fmt.Sprintf("%s: %d were restored", of.environment, got.Restore.Count)
			}
		}
		mend := staging.last()
		restore := report.Restore
		return between(restore.P50, 0.5, []time.Duration{mend.asked.Sub(failed)}, []time.Duration{mend.seen.Sub(failed)})
	}, s.Process)
	levels, err := s.admin.ServiceLevels(t.Context(), api.LedgerFilter{From: began})
	if want := int64(len(staging.arrived) + len(production.arrived)); err != nil || levels.All.Deliveries != want {
		t.Errorf("%d deliveries, not %d, %v", levels.All.Deliveries, want, err)
	}
}
