package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

type upgradeOptions struct {
	*connect.Common
	api.UpgradeRequest
	labels, canaryLabels []string
	scope                string
	hold, timeout        time.Duration
	dryRun, noWait       bool
}

func newUpgradeCmd(common *connect.Common) *cobra.Command {
	o := upgradeOptions{Common: common}
	cmd := &cobra.Command{
		Use: "upgrade [AGENT...]", Short: "Upgrade agents: canaries first, then in steps, each of which waits until its agents are healthy",
		Long: "Upgrade agents to a release, or to the version that `slipway agent version` says for each of them. The first agents are\n" +
			"canaries; then come steps, percentages of the others. A step is over when all its agents run the new version, and each has\n" +
			"been healthy for the hold time: connected, with healthy components, and with no more failed applications than before. When an\n" +
			"agent is in trouble for longer than the timeout, nothing more is begun, and that agent goes back to the image that it ran.",
		Example: "  slipway agent upgrade --version 1.4.0 --dry-run\n" +
			"  slipway agent upgrade --version 1.4.0 --canary 2 --steps 25,50,100 --max-unavailable 5 --reason 'CVE in git'\n" +
			"  slipway agent upgrade --version 1.4.0 --canary-label ring=early --label region=eu --hold 10m\n" +
			"  slipway agent upgrade account.prod --version 1.3.2 --allow-downgrade\n" +
			"  slipway agent upgrade status b7k2m4x6q3w5\n" +
			"  slipway agent upgrade stop b7k2m4x6q3w5\n" +
			"  slipway agent upgrade resume b7k2m4x6q3w5\n" +
			"  slipway agent upgrade rollback b7k2m4x6q3w5 --reason 'syncs are slower'",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				o.Agents = append(o.Agents, idOf(arg))
			}
			return upgradeRun(cmd.Context(), &o)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.AddCommand(
		newUpgradeListCmd(common), newUpgradeStatusCmd(common),
		newUpgradeChangeCmd(common, api.UpgradeStop, "Stop an upgrade: no further agents are begun, and those under way are waited for",
			"is stopped: `slipway agent upgrade resume %s` goes on with the rest"),
		newUpgradeChangeCmd(common, api.UpgradeResume, "Resume an upgrade that was stopped or failed, with the agents that have not begun",
			"goes on: `slipway agent upgrade status %s` shows the progress"),
		newUpgradeChangeCmd(common, api.UpgradeBack, "Roll back an upgrade: its agents run again what they ran before",
			"is being rolled back: `slipway agent upgrade status %s` shows the progress"),
	)
	return cmd
}

func (o *upgradeOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Release, "version", "",
		"`version` of a release that was added (default the one that `slipway agent version` says for each agent)")
	flags.StringVar(&o.scope, "scope", "", "only agents in this `scope` or below it (default account)")
	flags.StringSliceVar(&o.labels, "label", nil, "only agents with this `key=value`; several times for several")
	flags.IntVar(&o.Canary, "canary", 0, "`number` of agents that are upgraded first (default 1)")
	flags.StringSliceVar(&o.canaryLabels, "canary-label", nil, "`key=value` of the agents that are upgraded first, instead of a number")
	flags.IntSliceVar(&o.Steps, "steps", nil,
		"`percentages` of the other agents after which all upgraded ones must be healthy (default 25,50,100)")
	flags.IntVar(&o.MaxUnavailable, "max-unavailable", 0, "`number` of agents that may be under way at a time (default 3)")
	flags.DurationVar(&o.hold, "hold", 0, "how long an upgraded agent has to stay healthy (default 2m)")
	flags.DurationVar(&o.timeout, "timeout", 0, "how long an agent has until it runs the new version and is healthy (default 10m)")
	flags.BoolVar(&o.AllowDowngrade, "allow-downgrade", false,
		"let agents run a version that is older than theirs; its statement must be signed after that of theirs")
	flags.StringVar(&o.Reason, "reason", "", "why, for the audit")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only list the agents in their order, and those that are left out with the reason")
	flags.BoolVar(&o.noWait, "no-wait", false, "start the upgrade, and do not follow it")
}

func upgradeRun(ctx context.Context, o *upgradeOptions) error {
	var err error
	if o.Selector, err = noun.ReadLabels(o.labels); err != nil {
		return err
	}
	if o.CanarySelector, err = noun.ReadLabels(o.canaryLabels); err != nil {
		return err
	}
	o.Scope, o.Hold, o.Timeout = api.Scope(o.scope), int(o.hold.Seconds()), int(o.timeout.Seconds())
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	plan, err := s.Client.UpgradeAgents(ctx, o.UpgradeRequest, o.dryRun)
	if err != nil {
		return s.Explain(err)
	}
	switch {
	case o.dryRun:
		if err := printUpgrade(o.Common, &plan); err != nil {
			return err
		}
		if o.Output == iostream.Table && plan.Upgrade.Counts.Total > 0 {
			o.Sayf("%d of %d agents would be upgraded; steps after the canaries: %d", plan.Upgrade.Counts.Waiting, plan.Upgrade.Counts.Total,
				plan.Upgrade.Steps)
		}
		return nil
	case o.noWait:
		if o.Output != iostream.Table {
			return o.Print(o.Output, plan)
		}
		o.Sayf("upgrade %s has begun: `slipway agent upgrade status %s --follow` shows the progress", plan.Upgrade.ID, plan.Upgrade.ID)
		return nil
	}
	return followUpgrade(ctx, o.Common, s, plan.Upgrade.ID)
}

// printUpgrade prints the agents of an upgrade.
func printUpgrade(common *connect.Common, plan *api.UpgradePlan) error {
	if common.Output != iostream.Table {
		return common.Print(common.Output, plan)
	}
	header := []string{"STEP", "AGENT", "FROM", "TO", "STATE", "MESSAGE"}
	return noun.PrintList(common, plan.Targets, header, func(t *api.UpgradeTarget) []string {
		step := "canary"
		if t.Step > 0 {
			step = fmt.Sprint(t.Step)
		}
		return []string{step, t.Agent, t.FromVersion, t.Version, t.State, t.Message}
	}, cmp.Or(plan.Upgrade.Message, "no agent matches"))
}

// followUpgrade shows how far an upgrade is until it is over.
func followUpgrade(ctx context.Context, common *connect.Common, s *connect.Server, id string) error {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	seen := map[string]string{}
	for {
		plan, err := s.Client.AgentUpgrade(ctx, id)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted; the upgrade goes on: `slipway agent upgrade stop %s` stops it", id)
		case err != nil:
			return s.Explain(err)
		}
		if common.Output == iostream.Table {
			tellTargets(common, plan.Targets, seen)
			c := &plan.Upgrade.Counts
			common.Status(fmt.Sprintf("step %d of %d: %d of %d done, %d under way", plan.Upgrade.Step, plan.Upgrade.Steps, c.Done, c.Total,
				c.UnderWay))
		}
		if plan.Upgrade.State != api.UpgradeRunning {
			common.Status("")
			if common.Output != iostream.Table {
				if err := common.Print(common.Output, plan); err != nil {
					return err
				}
			}
			return upgradeVerdict(common, &plan.Upgrade)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// tellTargets prints what changed since the last time.
func tellTargets(common *connect.Common, targets []api.UpgradeTarget, seen map[string]string) {
	for i := range targets {
		t := &targets[i]
		before, now := seen[t.Agent], t.State
		seen[t.Agent] = now
		if now == before || now == api.UpgradeTargetWaiting {
			continue
		}
		common.Status("")
		common.Sayf("%s", strings.TrimSuffix(fmt.Sprintf("%s: %s %s: %s", t.Agent, now, t.Version, t.Message), ": "))
	}
}

// upgradeVerdict is the error of an upgrade that is over and did not do all that was asked for.
func upgradeVerdict(common *connect.Common, u *api.Upgrade) error {
	if u.State == api.UpgradeDone {
		if common.Output == iostream.Table {
			common.Sayf("upgrade %s is done: %d upgraded, %d left out", u.ID, u.Counts.Done, u.Counts.Skipped)
		}
		return nil
	}
	if u.State == api.UpgradeReturned {
		return fmt.Errorf("upgrade %s was rolled back: %s; `slipway agent upgrade status %s` shows each agent", u.ID, u.Message, u.ID)
	}
	return fmt.Errorf("upgrade %s is %s: %s; `slipway agent upgrade status %s` shows each agent, `resume` goes on with the rest, "+
		"and `rollback` takes all of it back", u.ID, u.State, cmp.Or(u.Message, "see its agents"), u.ID)
}

func newUpgradeListCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List upgrades of agents, the newest first", Args: cobra.NoArgs,
		Example: "  slipway agent upgrade list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			all, err := s.Client.AgentUpgrades(cmd.Context())
			if err != nil {
				return s.Explain(err)
			}
			header := []string{"ID", "STATE", "VERSION", "STEP", "DONE", "FAILED", "BY", "BEGUN", "MESSAGE"}
			return noun.PrintList(common, all, header, func(u *api.Upgrade) []string {
				return []string{
					u.ID, u.State, cmp.Or(u.Request.Release, "as wanted"), fmt.Sprintf("%d/%d", u.Step, u.Steps),
					fmt.Sprintf("%d/%d", u.Counts.Done, u.Counts.Total), fmt.Sprint(u.Counts.Failed + u.Counts.Returned), u.By.ID, noun.Time(u.CreatedAt),
					u.Message,
				}
			}, "there are no upgrades yet")
		},
	}
}

func newUpgradeStatusCmd(common *connect.Common) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use: "status ID", Short: "Show the progress of an upgrade, agent by agent", Args: cobra.ExactArgs(1),
		Example: "  slipway agent upgrade status b7k2m4x6q3w5\n  slipway agent upgrade status b7k2m4x6q3w5 --follow",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			if follow {
				return followUpgrade(cmd.Context(), common, s, args[0])
			}
			plan, err := s.Client.AgentUpgrade(cmd.Context(), args[0])
			if err != nil {
				return s.Explain(err)
			}
			if err := printUpgrade(common, &plan); err != nil || common.Output != iostream.Table {
				return err
			}
			u := &plan.Upgrade
			text := fmt.Sprintf("upgrade %s is %s, in step %d of %d: %s", u.ID, u.State, u.Step, u.Steps, u.Message)
			common.Sayf("%s", strings.TrimSuffix(text, ": "))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow it until it is over")
	return cmd
}

func newUpgradeChangeCmd(common *connect.Common, what api.UpgradeChange, short, did string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: string(what) + " ID", Short: short, Args: cobra.ExactArgs(1),
		Example: "  slipway agent upgrade " + string(what) + " b7k2m4x6q3w5",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			u, err := s.Client.Because(reason).ChangeUpgrade(cmd.Context(), args[0], what)
			if err != nil {
				return s.Explain(err)
			}
			if common.Output != iostream.Table {
				return common.Print(common.Output, u)
			}
			common.Sayf("upgrade %s "+did, u.ID, u.ID)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return cmd
}

// errNoKey says that nothing to sign with was given.
var errNoKey = errors.New("--key is missing: give the private key that signs the statement; " +
	"`openssl genpkey -algorithm ed25519 -out release.key` makes one")
