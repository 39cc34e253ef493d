package stack

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/dev/demo"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

// noticesPath is where the Git server of the demo takes the notifications of the server.
const noticesPath = "/notices"

// channelName names the channel of the tour, and the secret of it.
const channelName = "team"

// tour fills the pages that the five applications leave empty: services in two regions, releases with a history, a sync
// that the deletion guard holds, and notifications. It does so once for a data directory, so what people change stays; a
// tour that is interrupted stays as it is.
func (s *stack) tour(ctx context.Context, c *client.Client, cluster *connect.Cluster) error {
	if c == nil || !s.options.tour || s.git == nil {
		return nil
	}
	if _, err := os.Stat(s.dir.toured()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.say("making the tour: services, environments, notifications, releases")
	if err := replaceFile(s.dir.toured(), nil); err != nil {
		return err
	}
	if err := s.declareTour(ctx, c); err != nil {
		return fmt.Errorf("make the tour: %w", err)
	}
	for n, commit := range demo.TourCommits() {
		id, err := s.commit(ctx, commit)
		if err == nil && n == 0 {
			err = s.deployTour(ctx, cluster)
		}
		if err == nil {
			err = s.awaitCommit(ctx, cluster, commit, id)
		}
		if err != nil {
			return fmt.Errorf("make the tour: %w", err)
		}
	}
	return nil
}

// declareTour makes what the server keeps: environments, services, a channel and a rule.
func (s *stack) declareTour(ctx context.Context, c *client.Client) error {
	for _, e := range []api.Environment{
		{Meta: api.Meta{Name: demo.Staging, DisplayName: "Staging"}, Type: "PreProduction", Region: "eu-north"},
		{Meta: api.Meta{Name: demo.ProductionEU, DisplayName: "Production, Europe"}, Type: "Production", Region: "eu-north"},
		{Meta: api.Meta{Name: demo.ProductionUS, DisplayName: "Production, America"}, Type: "Production", Region: "us-east"},
	} {
		_, err := c.Environments().Create(ctx, e, false)
		if err := unlessThere(err); err != nil {
			return err
		}
	}
	for name, display := range map[string]string{"checkout": "Checkout", demo.Catalog: "Catalog"} {
		_, err := c.Services().Create(ctx, api.Service{Meta: api.Meta{Name: name, DisplayName: display}}, false)
		if err := unlessThere(err); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.dir.notices(), 0o700); err != nil {
		return fmt.Errorf("make directory of notification secrets: %w", err)
	}
	if err := replaceFile(s.dir.noticeSecret(), []byte(rand.Text()+"\n")); err != nil {
		return err
	}
	_, err := c.NotificationChannels().Create(ctx, api.NotificationChannel{
		Meta: api.Meta{Name: channelName, Description: "Webhook of the demo, written to log/notices.log"},
		Kind: "webhook", Secret: channelName, URL: "http://" + loopback(s.ports.Git) + noticesPath,
	}, false)
	if err := unlessThere(err); err != nil {
		return err
	}
	_, err = c.NotificationRules().Create(ctx, api.NotificationRule{
		Meta: api.Meta{Name: "releases", Description: "Ends of syncs, and what needs attention"}, Channel: api.ScopeAccount.ID(channelName),
		Events: []string{"sync.succeeded", "sync.failed", "degraded", "held"},
	}, false)
	return unlessThere(err)
}

func unlessThere(err error) error {
	if api.CodeOf(err) == api.CodeConflict {
		return nil
	}
	return err
}

// deployTour creates the Applications of the tour that are not there.
func (s *stack) deployTour(ctx context.Context, cluster *connect.Cluster) error {
	for _, object := range demo.TourApplications(s.repo) {
		want := &unstructured.Unstructured{Object: object}
		want.SetNamespace(cluster.Apps.Namespace())
		if _, err := cluster.Apps.Get(ctx, want.GetName()); err == nil {
			continue
		} else if !isNotFound(err) {
			return err
		}
		if _, err := cluster.Apps.Create(ctx, want, true, false); err != nil {
			return err
		}
	}
	return nil
}

// commit adds a commit to the demo repository, has the agent learn of it as of any push, and returns its id.
func (s *stack) commit(ctx context.Context, c demo.Commit) (string, error) {
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit %s\ncommitter Slipway <slipway@localhost> now\ndata %d\n%s\nfrom %s^0\n",
		demoBranch, len(c.Message)+1, c.Message+"\n", demoBranch)
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		if content := c.Files[path]; content == "" {
			fmt.Fprintf(&stream, "D %s\n", path)
		} else {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
		}
	}
	bare := s.dir.file("git", demoRepository)
	if _, err := runGit(ctx, bare, stream.Bytes(), "fast-import", "--quiet", "--date-format=now"); err != nil {
		return "", fmt.Errorf("commit %q: %w", c.Message, err)
	}
	s.git.pushed("")
	return runGit(ctx, bare, nil, "rev-parse", demoBranch)
}

// awaitCommit waits until the applications of a commit are as it wants them.
func (s *stack) awaitCommit(ctx context.Context, cluster *connect.Cluster, c demo.Commit, id string) error {
	last := map[string]string{}
	err := cluster.Apps.Follow(ctx, slices.Concat(c.Applications, c.Holds), func(name string, app *connect.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s was deleted; start again to get it back", name)
		}
		done := app.Status.Sync.Revision == id && app.Status.Sync.Status == v1alpha1.SyncStatusSynced &&
			app.Status.Health.Status == v1alpha1.HealthHealthy
		if slices.Contains(c.Holds, name) {
			done = slices.ContainsFunc(app.Status.Conditions, func(x v1alpha1.ApplicationCondition) bool { return x.Type == v1alpha1.ConditionHeld })
		}
		last[name] = string(app.Status.Sync.Status) + " " + string(app.Status.Health.Status)
		if done {
			delete(last, name)
		}
		return done, nil
	})
	if err != nil && ctx.Err() != nil {
		return errors.Join(err, fmt.Errorf("after %q: %s", c.Message, strings.TrimPrefix(fmt.Sprint(last), "map")))
	}
	return err
}
