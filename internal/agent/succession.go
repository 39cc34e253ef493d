package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/internal/agent/succession"
)

// SuccessionConfig says with which standby an agent shares a name; none without a Name.
type SuccessionConfig struct {
	Name, Namespace string
	Standby         bool
}

func (s *SuccessionConfig) add(fs *pflag.FlagSet) {
	fs.StringVar(&s.Name, "succession", "",
		"`name` that this agent shares with its standby in another cluster; a Lease of this name in each destination cluster names the one "+
			"that may write")
	fs.StringVar(&s.Namespace, "succession-namespace", "kube-system", "`namespace` of these Leases in the destination clusters")
	fs.BoolVar(&s.Standby, "standby", false, "wait until 'slipway agent promote' makes this agent take over; with --succession")
}

var successionName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$`)

func (s *SuccessionConfig) check(shadow bool) error {
	switch {
	case s.Name == "" && s.Standby:
		return errors.New("--standby needs --succession NAME: the name that the agent and its standby share")
	case s.Name == "":
		return nil
	case shadow:
		return errors.New("--shadow writes nothing, so it has no standby: leave out --succession")
	case !successionName.MatchString(s.Name) || !successionName.MatchString(s.Namespace):
		return errors.New("--succession and --succession-namespace are names: use lower-case letters, digits and hyphens")
	}
	return nil
}

// addSuccession makes what lets writes pass, where the agent has a standby.
func addSuccession(a *Agent) error {
	cfg := a.cfg.Succession
	if cfg.Name == "" {
		return nil
	}
	core, err := corev1.NewForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make client for the succession: %w", err)
	}
	a.superseded = make(chan struct{})
	a.succession = succession.New(succession.Config{
		Name: cfg.Name, Namespace: cfg.Namespace, Core: core.ConfigMaps(a.cfg.Namespace), Standby: cfg.Standby,
		Cluster:    func(ctx context.Context) (string, error) { return ownCluster(ctx, core) },
		Superseded: func() { close(a.superseded) }, Log: a.cfg.Log.With("component", "succession"),
	})
	return nil
}

// ownCluster is the uid of the cluster that the agent runs in; "" where it may not be read.
func ownCluster(ctx context.Context, core corev1.CoreV1Interface) (string, error) {
	ns, err := core.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return string(ns.UID), nil
}

// succeed runs what the active agent does, from when the agent is the active one, and until another one is.
func succeed(ctx context.Context, a *Agent, work func(context.Context) error) error {
	if a.succession == nil {
		return work(ctx)
	}
	err := a.succession.Await(ctx, func(why string) {
		a.log.Info("waiting", "why", why)
		a.waits.Store(&why)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // stopped while waiting
	}
	if err != nil {
		return err
	}
	a.waits.Store(nil)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-a.superseded:
			return succession.ErrSuperseded // a restart waits for its promotion
		}
	})
	g.Go(func() error { return work(ctx) })
	return g.Wait()
}
