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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/beside"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/sidecar"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/trace"
)

type flags struct {
	standalone bool
	kubeconfig string
	namespaces []string
	budget     string
	engine     string
	verbose    bool
	link       linkFlags
	outward    outward.Flags
	clouds     map[string]string // of hosts of registries
	cfg        Config
}

// Command is the command line of the agent.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "slipway-agent",
		Short: "Keep clusters in sync with Git",
		Long: `slipway-agent watches Applications (argoproj.io/v1alpha1) in its namespace and brings their destination
clusters to the revisions that they name. It needs git (2.38 or newer) and a cluster, and nothing else.

The cluster that holds the Applications is found by --kubeconfig, then KUBECONFIG, then the pod's own service account.`,
		Example: `  # in a pod, with the token that "slipway agent create" printed
  slipway-agent --server https://slipway.example.org --registration-token-file /run/secrets/slipway/token

  # without a server
  slipway-agent --standalone

  # on a machine, against the cluster of a kubeconfig, notified of pushes by a webhook
  slipway-agent --standalone --kubeconfig ~/.kube/config --webhook-listen 127.0.0.1:9091`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { f.cfg.Version = cmd.Version; return f.run(cmd.Context()) },
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.standalone, "standalone", false, "work without a server, from the custom resources alone")
	f.link.add(fs)
	f.cfg.Upgrade.add(fs)
	f.cfg.Succession.add(fs)
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` with the connection to the cluster (default $KUBECONFIG, then the pod's own)")
	fs.StringVar(&f.cfg.Namespace, "namespace", "argocd", "namespace of the Applications, their settings and the lease")
	fs.StringVar(&f.cfg.Installation, "installation-id", "",
		"`name` that distinguishes objects from those of other agents on the same cluster, if argocd-cm has no installationID")
	fs.StringSliceVar(&f.namespaces, "application-namespaces", nil,
		"further namespaces with Applications: names, globs, /regular expressions/; "+
			"application.namespaces of argocd-cmd-params-cm where it is not set")
	fs.StringVar(&f.cfg.Data, "data", filepath.Join(os.TempDir(), "slipway-agent"), "`directory` for caches; it can be lost at any time")
	fs.StringVar(&f.cfg.KeyHelper, "sops-key-helper", "",
		"absolute `path` of a program that opens data keys of SOPS with the key service of a cloud, for every project; none is run by default")
	fs.StringSliceVar(&f.cfg.KeyHelperEnv, "sops-key-helper-env", nil,
		"`names` of environment variables that the program gets beside PATH and HOME")
	fs.StringVar(&f.cfg.Declared, "plugins", "",
		"`directory` with declarations (plugin.yaml) of config management plugins that the agent runs itself, confined")
	fs.BoolVar(&f.cfg.Unconfined, "plugins-unconfined", false,
		"run plugins of --plugins also where the kernel cannot confine them: files of a repository may then reach what the agent can")
	fs.StringVar(&f.cfg.Plugins, "plugin-sockets", sidecar.DefaultDir,
		"`directory` with the sockets of config management plugins, which run in containers beside this one")
	fs.BoolVar(&f.cfg.InstallCRDs, "install-crds", true,
		"install the resource definitions and the default AppProject; those of Argo CD are left alone")
	fs.DurationVar(&f.cfg.Poll, "poll", time.Minute, "time between two looks at a repository; webhooks do not wait for it")
	fs.StringVar(&f.cfg.HealthListen, "health-listen", "", "`address` for /healthz and /readyz")
	fs.StringVar(&f.cfg.MetricsListen, "metrics-listen", "", "`address` for /metrics")
	fs.BoolVar(&f.cfg.MetricsApplications, "metrics-applications", false,
		"a metric for each Application too, with its name, sync status and health; with thousands of them Prometheus pays for it")
	fs.StringVar(&f.cfg.WebhookListen, "webhook-listen", "", "`address` for POST /api/webhook, where forges report pushes")
	fs.BoolVar(&f.cfg.AllowUnsigned, "webhook-allow-unsigned", true,
		"take webhooks of forges for which argocd-secret holds no secret; they only make the agent look")
	fs.StringVar(&f.cfg.PprofListen, "pprof-listen", "", "`address` for /debug/pprof; keep it on loopback")
	f.outward.Register(fs)
	fs.BoolVar(&f.cfg.AllowFile, "allow-file-repositories", false, "allow repositories in local directories; for development")
	fs.Int64Var(&f.cfg.RepositorySize, "repository-size", git.DefaultMaxSize>>20,
		"`MiB` on disk that the mirror of one repository may have; a fetch that would bring more is ended")
	fs.Int64Var(&f.cfg.RepositoryMemory, "repository-memory", git.DefaultMaxMemory>>20,
		"`MiB` of memory that one process of git may take for what a repository sends; less than the limit of the container")
	fs.StringToStringVar(&f.clouds, "registry-cloud", nil,
		"`host=cloud` of registries that take the identity of the agent's pod, where the name of the host does not show it: "+
			"registry.example.org=aws; the cloud is aws, gcp or azure")
	fs.IntVar(&f.cfg.Workers, "workers", 0, "Applications that are reconciled at a time; 0: by the number of processors")
	fs.IntVar(&f.cfg.Shards, "shards", 1,
		"parts of the Applications that replicas share, each working on some; 1: one replica works on all, the others wait")
	fs.DurationVar(&f.cfg.LeaseDuration, "lease-duration", shard.Duration,
		"how long the lease of a replica counts that is gone; whole seconds, the same for all")
	fs.BoolVar(&f.cfg.Namespaced, "namespaced", false,
		"ask nothing of the whole cluster, for an agent with Roles only; its own cluster is a destination only if a cluster Secret "+
			"names the namespaces")
	fs.StringSliceVar(&f.cfg.ClusterCommands, "cluster-commands", nil,
		"`paths` of programs that execProviderConfig of a cluster Secret may run; argocd-k8s-auth aws, gcp and azure need none")
	fs.StringVar(&f.budget, "deletion-budget", plan.DefaultBudget().String(),
		"what one sync may delete without a person's word: a number of objects, "+
			"\"20,30%\" for more than 20 that are over 30% of the application, or off")
	fs.StringVar(&f.engine, "engine", string(agentapi.EngineSlipway),
		"what works on the Applications: `slipway|argocd`, the engine in this process, "+
			"or an Argo CD that is in the cluster already and stays as it is")
	fs.StringVar(&f.cfg.HelmVersion, "helm-version", beside.HelmAuto,
		"Helm that renders charts whose source has no helm.version: `auto|v3|v4`; auto is that of the Argo CD in the namespace, "+
			"and v3 where there is none")
	fs.BoolVar(&f.cfg.Shadow, "shadow", false,
		"write nothing to any cluster, and report the changes that would be made: on GET /shadow of --health-listen, in metrics, in the log")
	fs.StringVar(&f.cfg.ShadowReport, "shadow-report", "", "`file` with the content of GET /shadow; with --shadow")
	fs.BoolVar(&f.verbose, "verbose", false, "log every comparison")
	cmd.AddCommand(guardCommand())
	return cmd
}

// Bounds of flags in MiB.
const (
	leastGit = 64 // which git needs for small repositories
	maxMiB   = 1 << 30
)

func (f *flags) run(ctx context.Context) error {
	var err error
	if f.cfg.Link, err = f.link.config(f.standalone); err != nil {
		return err
	}
	if err := errors.Join(f.cfg.Upgrade.check(), f.cfg.Succession.check(f.cfg.Shadow)); err != nil {
		return err
	}
	if f.cfg.ShadowReport != "" && !f.cfg.Shadow {
		return errors.New("--shadow-report is the report of shadow mode: start it with --shadow too")
	}
	switch {
	case f.cfg.RepositorySize < 1 || f.cfg.RepositorySize > maxMiB:
		return fmt.Errorf("--repository-size %d: give a number of MiB from 1 to %d", f.cfg.RepositorySize, int64(maxMiB))
	case f.cfg.RepositoryMemory < leastGit || f.cfg.RepositoryMemory > maxMiB:
		return fmt.Errorf("--repository-memory %d: give a number of MiB from %d to %d", f.cfg.RepositoryMemory, leastGit, int64(maxMiB))
	case slices.ContainsFunc(f.cfg.ClusterCommands, func(path string) bool { return !filepath.IsAbs(path) }):
		return errors.New("--cluster-commands: give absolute paths")
	case f.cfg.Namespaced && f.cfg.InstallCRDs:
		return errors.New("--namespaced installs no resource definitions: have them installed, and set --install-crds=false")
	case f.cfg.Shards < 1 || f.cfg.Shards > shard.Max:
		return fmt.Errorf("--shards %d: give a number from 1 to %d", f.cfg.Shards, shard.Max)
	case f.cfg.Shards > 1 && f.cfg.Shadow:
		return errors.New("--shadow writes no leases, and --shards needs them: leave out one of them")
	case f.cfg.LeaseDuration < shard.ShortestDuration || f.cfg.LeaseDuration%time.Second != 0:
		return fmt.Errorf("--lease-duration %s: give whole seconds, at least %s", f.cfg.LeaseDuration, shard.ShortestDuration)
	}
	switch f.cfg.HelmVersion {
	case beside.HelmAuto, render.HelmV3, render.HelmV4:
	default:
		return fmt.Errorf("--helm-version %q: give auto, v3 or v4", f.cfg.HelmVersion)
	}
	if err := f.chooseEngine(); err != nil {
		return err
	}
	level := slog.LevelInfo
	if f.verbose {
		level = slog.LevelDebug
	}
	f.cfg.Log = slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	klog.SetSlogLogger(f.cfg.Log.With("component", "client-go"))
	limitMemory(f.cfg.Log)
	if f.cfg.Budget, err = plan.ParseBudget(f.budget); err != nil {
		return fmt.Errorf("--deletion-budget: %w", err)
	}
	if f.cfg.Outbound, err = f.outward.Policy(); err != nil {
		return err
	}
	if f.cfg.RegistryClouds, err = registrylogin.ParseClouds(f.clouds); err != nil {
		return fmt.Errorf("--registry-cloud: %w", err)
	}
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
	if f.cfg.Tracer, err = trace.New(ctx, "slipway-agent", f.cfg.Version, f.cfg.Log); err != nil {
		return err
	}
	defer f.cfg.Tracer.Close(context.WithoutCancel(ctx))
	a, err := New(ctx, f.cfg)
	if err != nil {
		return err
	}
	f.cfg.Log.Info("starting", "namespace", f.cfg.Namespace, "cluster", f.cfg.REST.Host, "identity", f.cfg.Identity, "engine", f.cfg.Engine,
		"shadow", f.cfg.Shadow)
	return a.Run(ctx)
}

// chooseEngine reads --engine, and says which flags mean nothing with it.
func (f *flags) chooseEngine() error {
	f.cfg.Engine = agentapi.Engine(f.engine)
	if f.cfg.Engine != agentapi.EngineArgoCD {
		return nil // an unknown one is refused by New
	}
	switch {
	case f.cfg.Link == nil:
		return errors.New("--engine argocd is for an agent with a server: without one there is nothing that it would do beside Argo CD")
	case f.cfg.Shadow:
		return errors.New("--shadow is for the engine in this process, and --engine argocd has none: leave out either")
	case f.cfg.Shards > 1:
		return errors.New("--shards is for the engine in this process: Argo CD shares its work by its own settings, so leave it out")
	case f.cfg.Succession.Name != "":
		return errors.New("--succession is for the engine in this process: nothing keeps an Argo CD from writing, so leave it out")
	case f.cfg.WebhookListen != "":
		return errors.New("--webhook-listen is for the engine in this process: Argo CD takes webhooks itself, so send them there")
	}
	f.cfg.InstallCRDs = false
	return nil
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
// own lease again immediately.
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
