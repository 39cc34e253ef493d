package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/upgrade"
)

// UpgradeConfig says how the agent's own image is changed.
type UpgradeConfig struct {
	Deployment, Container, Image, KeyFile, Minimum string
}

func (u *UpgradeConfig) add(fs *pflag.FlagSet) {
	u.target(fs)
	fs.StringVar(&u.Image, "image", "", "`image@digest` that this process runs, where no pod says so")
	fs.StringVar(&u.KeyFile, "release-keys", "",
		"`file` with public keys (PEM); the agent upgrades itself to images of releases that one of them signed, and to no others")
	fs.StringVar(&u.Minimum, "minimum-version", "", "oldest `version` that a command of the server may make the agent run")
}

// target are the flags that name what runs the agent.
func (u *UpgradeConfig) target(fs *pflag.FlagSet) {
	fs.StringVar(&u.Deployment, "deployment", "slipway-agent", "`name` of the Deployment that runs the agent, for upgrades")
	fs.StringVar(&u.Container, "container", "agent", "`name` of its container in there")
}

func (u *UpgradeConfig) check() error {
	if u.Minimum == "" {
		return nil
	}
	if _, err := semver.StrictNewVersion(u.Minimum); err != nil {
		return fmt.Errorf("--minimum-version %.40q: give a semantic version, such as 1.4.0", u.Minimum)
	}
	return nil
}

// upgrader makes what changes the agent's own image.
func (c *Config) upgrader() (*upgrade.Upgrader, error) {
	client, err := kubernetes.NewForConfig(c.REST)
	if err != nil {
		return nil, fmt.Errorf("make client for upgrades: %w", err)
	}
	forbidden := ""
	if c.Shadow {
		forbidden = "an agent in shadow mode writes nothing: upgrade it by hand"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // it does not know its image then
	}
	return upgrade.New(upgrade.Config{
		Client: client, Namespace: c.Namespace, Deployment: c.Upgrade.Deployment, Container: c.Upgrade.Container, Image: c.Upgrade.Image,
		Pod: host, KeyFile: c.Upgrade.KeyFile, Minimum: c.Upgrade.Minimum, Version: c.Version, Forbidden: forbidden,
		Log: c.Log.With("component", "upgrade"),
	}), nil
}

// upgradeExecutor carries out upgrades.
func upgradeExecutor(u *upgrade.Upgrader) link.Executor {
	return command.On(func(ctx context.Context, cmd agentapi.Command, in agentapi.Upgrade) (any, error) {
		return u.Execute(ctx, cmd, in)
	})
}

// guardCommand is the process that watches over an upgrade.
func guardCommand() *cobra.Command {
	var cfg Config
	var kubeconfig, image string
	var within time.Duration
	cmd := &cobra.Command{
		Use: upgrade.GuardVerb, Short: "Put the image before an upgrade back, if the new agent does not connect in time",
		Long: "Wait until the upgraded agent has connected to its server, and put the image before the upgrade back if it has not within\n" +
			"a time. An agent that upgrades itself starts this as a Job of its previous image.",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if image == "" || within <= 0 {
				return errors.New("--image and --within say what is watched, and for how long: give both")
			}
			var err error
			if cfg.REST, err = connection(kubeconfig); err != nil {
				return err
			}
			cfg.Log = slog.New(slog.NewJSONHandler(os.Stderr, nil))
			u, err := cfg.upgrader()
			if err != nil {
				return err
			}
			return u.Guard(cmd.Context(), image, within)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&kubeconfig, "kubeconfig", "", "`file` with the connection to the cluster (default $KUBECONFIG, then the pod's own)")
	fs.StringVar(&cfg.Namespace, "namespace", "argocd", "namespace of the agent")
	cfg.Upgrade.target(fs)
	fs.StringVar(&image, "image", "", "`image` of the upgrade")
	fs.DurationVar(&within, "within", 0, "how long the new agent has to connect")
	return cmd
}
