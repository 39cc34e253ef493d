package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

type flags struct {
	standalone bool
	kubeconfig string
	namespaces []string
	verbose    bool
	cfg        Config
}

// Command is the command line of the agent.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "slipway-agent",
		Short: "Keep clusters at what Git says",
		Long: `slipway-agent watches Applications (argoproj.io/v1alpha1) in its namespace and brings their destination
clusters to the revisions that they name. It needs git (2.38 or newer) and a cluster, and nothing else.

The cluster that holds the Applications is found by --kubeconfig, then KUBECONFIG, then the pod's own service account.`,
		Example: `  # in a pod
  slipway-agent --standalone

  # on a machine, against the cluster of a kubeconfig, told of pushes by a webhook
  slipway-agent --standalone --kubeconfig ~/.kube/config --webhook-listen 127.0.0.1:9091`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.standalone, "standalone", false, "work without a server, from the custom resources alone (required by this version)")
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` with the connection to the cluster (default $KUBECONFIG, then the pod's own)")
	fs.StringVar(&f.cfg.Namespace, "namespace", "argocd", "namespace of the Applications, their settings and the lease")
	fs.StringSliceVar(&f.namespaces, "application-namespaces", nil, "further namespaces with Applications; * for all")
	fs.StringVar(&f.cfg.Data, "data", filepath.Join(os.TempDir(), "slipway-agent"), "`directory` for caches; it can be lost at any time")
	fs.BoolVar(&f.cfg.InstallCRDs, "install-crds", true, "install the resource definitions and the default AppProject; those of Argo CD are left alone")
	fs.DurationVar(&f.cfg.Poll, "poll", time.Minute, "time between two looks at a repository; webhooks do not wait for it")
	fs.StringVar(&f.cfg.HealthListen, "health-listen", "", "`address` for /healthz and /readyz")
	fs.StringVar(&f.cfg.MetricsListen, "metrics-listen", "", "`address` for /metrics")
	fs.StringVar(&f.cfg.WebhookListen, "webhook-listen", "", "`address` for POST /api/webhook, where forges tell of pushes")
	fs.BoolVar(&f.cfg.AllowUnsigned, "webhook-allow-unsigned", true, "take webhooks of forges for which argocd-secret holds no secret; they only make the agent look")
	fs.StringVar(&f.cfg.PprofListen, "pprof-listen", "", "`address` for /debug/pprof; keep it on loopback")
	fs.BoolVar(&f.cfg.AllowFile, "allow-file-repositories", false, "allow repositories in local directories; for development")
	fs.IntVar(&f.cfg.Workers, "workers", 0, "Applications that are reconciled at a time (default by the number of processors)")
	fs.BoolVar(&f.verbose, "verbose", false, "log every comparison")
	return cmd
}

func (f *flags) run(ctx context.Context) error {
	if !f.standalone {
		return errors.New("this version has no server to connect to: start it with --standalone")
	}
	level := slog.LevelInfo
	if f.verbose {
		level = slog.LevelDebug
	}
	f.cfg.Log = slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(f.cfg.Log.With("component", "client-go"))
	limitMemory(f.cfg.Log)
	var err error
	if f.cfg.REST, err = connection(f.kubeconfig); err != nil {
		return err
	}
	f.cfg.Namespaces = f.namespaces
	if f.cfg.Data, err = filepath.Abs(f.cfg.Data); err != nil {
		return fmt.Errorf("find --data %s: %w", f.cfg.Data, err)
	}
	if f.cfg.Identity, err = identity(f.cfg.Data); err != nil {
		return err
	}
	a, err := New(ctx, f.cfg)
	if err != nil {
		return err
	}
	f.cfg.Log.Info("starting", "namespace", f.cfg.Namespace, "cluster", f.cfg.REST.Host, "identity", f.cfg.Identity)
	return a.Run(ctx)
}

func connection(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" && os.Getenv("KUBECONFIG") == "" {
		if cfg, err := rest.InClusterConfig(); err == nil {
			return cfg, nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w: give --kubeconfig FILE", err)
	}
	return cfg, nil
}

// identity names this agent in the leader lease. It is kept with the data, so that an agent that was killed takes its
// own lease again at once.
func identity(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make --data directory: %w", err)
	}
	file := filepath.Join(dir, "identity")
	if raw, err := os.ReadFile(file); err == nil && len(raw) > 0 {
		return string(raw), nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "agent"
	}
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("make an identity: %w", err)
	}
	id := host + "_" + hex.EncodeToString(random[:])
	if err := os.WriteFile(file, []byte(id), 0o600); err != nil {
		return "", fmt.Errorf("keep the identity: %w", err)
	}
	return id, nil
}

// limitMemory keeps the heap below what the container may use, so that the collector works harder before the kernel
// ends the process. GOMEMLIMIT, when set, has been taken by the runtime already.
func limitMemory(log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
		if err != nil || limit <= 0 || limit > 1<<40 {
			continue // "max", or no limit
		}
		debug.SetMemoryLimit(limit * 9 / 10)
		log.Info("memory limit of the container", "bytes", limit)
		return
	}
}
