package fleet

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	// agreeIn is the promise: how long after the return of the link the server agrees with the cluster.
	agreeIn = 2 * time.Second
	// following is how many Applications an agent has, and touched how many of them commits change.
	following, touched = 60, 4
	// eventSize is more than an event of a sync takes on the way, entrySize more than its entry of the ledger with the content of
	// one small object, and sessionSize more than what goes up whatever changed.
	eventSize, entrySize, sessionSize = 1 << 10, 1 << 10, 32 << 10
)

func TestAnAgentGoesOnWithoutItsServerAndTellsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	ns, client := testenv.Namespace(t), clientOf(t, testenv.Cluster(t))
	s := startServer(t)
	way := newProxy(t, strings.TrimPrefix(s.url, "https://"))
	id, agent := s.newAgent("cut", "https://"+way.address, testenv.Kubeconfig(t), ns)
	agent.Start()
	await(t, settled, "the agent", s.connected(id), agent, s.Process)
	f := newFollowers(t, client, ns)
	f.await("0", agent)
	same := s.mirror(client, id, ns)
	await(t, settled, "the server", same.differs, agent, s.Process)
	all, some := f.sizes(s, id)

	inventories, told, ended := s.Logged("it sends an inventory"), len(s.audit(t, "application.sync.")), len(s.audit(t, "application.sync.finished"))
	way.cut()
	last := f.commits(cutTime(t), time.Second)
	f.await(last, agent) // the agent goes on, although nobody hears of it
	await(t, settled, "the agent does not say that it has no link", func(context.Context) string {
		if agent.Logged("no link to the server") == 0 {
			return "nothing in its log"
		}
		return ""
	}, agent)
	back := time.Now()
	way.restore()
	await(t, settled, "the server after the return of the link", same.differs, agent, s.Process)
	took := time.Since(back)
	if soak() && took > agreeIn {
		t.Errorf("they agreed %s after the link was back; promised are %s", took, agreeIn)
	}
	// The events of all those syncs come behind.
	want, entries := 0, 0
	await(t, settled, "the syncs of that time in the audit", func(context.Context) string {
		finished := s.audit(t, "application.sync.finished")
		newest := ""
		if len(finished) > 0 {
			newest = string(finished[0].After)
		}
		entries = len(finished) - ended
		if want = len(s.audit(t, "application.sync.")) - told; !strings.Contains(newest, f.head) {
			return fmt.Sprintf("%d are there, the newest of %s, not of commit %s", want, newest, f.head)
		}
		return ""
	}, agent, s.Process)
	sent := way.up.Load()
	changed := f.updatedSince(s, id, back)
	t.Logf("cut for %s, %d commits: agreed %s after the return; %d of %d applications and %d events went up, %d bytes; all applications have %d",
		cutTime(t), f.number, took.Round(time.Millisecond), changed, following, want, sent, all)
	if changed > touched {
		t.Errorf("%d applications were sent for %d that changed", changed, touched)
	}
	if most := int64(2*some + want*eventSize + entries*entrySize + sessionSize); sent > most {
		t.Errorf("%d bytes went up for %d applications of %d bytes, %d events and %d entries of the ledger", sent, touched, some, want, entries)
	}
	if n := s.Logged("it sends an inventory") - inventories; n > 0 {
		t.Errorf("%d inventories were needed", n)
	}
	s.verifyAudit(t)
}

// cutTime is how long the link is away.
func cutTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SLIPWAY_SOAK_CUT")
	switch {
	case text == "" && soak():
		return 10 * time.Minute
	case text == "":
		return 6 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// followers are Applications that follow commits.
type followers struct {
	t      *testing.T
	client dynamic.Interface
	ns     string
	repo   *testenv.GitRepo
	number int    // of commits
	head   string // the last of them
}

// newFollowers makes them, all at "0".
func newFollowers(t *testing.T, client dynamic.Interface, ns string) *followers {
	t.Helper()
	f := &followers{t: t, client: client, ns: ns, repo: repository(t)}
	files := map[string]string{}
	for i := range following {
		files[f.name(i)+"/cm.yaml"] = configMap(f.name(i), "0")
	}
	f.repo.Commit(files, "begin")
	for i := range following {
		createApplication(t, client, ns, f.name(i), f.repo.URL(), f.name(i), true)
	}
	return f
}

// name is unique in the cluster, which other tests use too.
func (f *followers) name(i int) string { return fmt.Sprintf("%s-%d", f.ns, i) }

// commits changes the touched ones for a time and returns what they are at in the end.
func (f *followers) commits(longest, every time.Duration) (last string) {
	f.t.Helper()
	end := time.NewTimer(longest)
	defer end.Stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		f.number++
		last = fmt.Sprint(f.number)
		files := map[string]string{}
		for i := range touched {
			files[f.name(i)+"/cm.yaml"] = configMap(f.name(i), last)
		}
		f.head = f.repo.Commit(files, "commit "+last)
		select {
		case <-tick.C:
		case <-end.C:
			return last
		case <-f.t.Context().Done():
			f.t.Fatal("the time is over")
		}
	}
}

// await waits until the touched ones are at a value, the others at "0", and all say so.
func (f *followers) await(value string, agent *testenv.Process) {
	f.t.Helper()
	for i := range following {
		want, commit := "0", "" // what a commit does not change stays at the one before
		if i < touched {
			want, commit = value, f.head
		}
		await(f.t, settled, "the cluster", func(ctx context.Context) string {
			if problem := valueIn(ctx, f.client, f.ns, f.name(i), want); problem != "" {
				return problem
			}
			return synced(ctx, f.client, f.ns, f.name(i), commit)
		}, agent)
	}
}

// sizes returns how many bytes all Applications have, and those that commits change.
func (f *followers) sizes(s *server, id string) (all, some int) {
	f.t.Helper()
	for i := range following {
		app, err := s.admin.Application(api.Target{Agent: id, Namespace: f.ns, Name: f.name(i)}).Get(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		if all += len(app.Resource); i < touched {
			some += len(app.Resource)
		}
	}
	return all, some
}

// updatedSince counts the Applications that the server learned of since a time.
func (f *followers) updatedSince(s *server, id string, since time.Time) int {
	f.t.Helper()
	kept, err := s.copies(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	n := 0
	for _, app := range kept {
		if !app.UpdatedAt.Before(since) {
			n++
		}
	}
	return n
}
