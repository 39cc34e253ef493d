// Package setting is `slipway repo`, `cluster`, `cert`, `gpg` and `seal`: what agents keep in Secrets and ConfigMaps of
// their clusters. Secrets are sealed to the agent's key on this machine, so that no server can read them.
package setting

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
	"github.com/slipway-gitops/slipway/internal/seal"
)

// NewCmds returns the commands.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{newRepoCmd(common), newClusterCmd(common), newCertCmd(common), newGPGCmd(common), newSealCmd(common)}
}

// kind is a noun of settings.
type kind struct {
	setting agentapi.SettingType
	// use is how it is called on the command line, called what people call it.
	use, called string
	// example is a name of one.
	example string
	of      func(*client.Client) client.Setting
	// header and row are the columns after ID.
	header []string
	row    func(agentapi.Setting) []string
	// tests: a connection can be tried.
	tests bool
}

// shown is an item with what its agent says of it.
type shown struct {
	api.Item
	Setting agentapi.Setting `json:"setting"`
}

func show(item *api.Item) (shown, error) {
	out := shown{Item: *item}
	out.Resource = nil
	if err := json.Unmarshal(item.Resource, &out.Setting); err != nil {
		return out, fmt.Errorf("read %s %s: %w", item.Kind, item.ID(), err)
	}
	return out, nil
}

// connectionText says how the last use of a setting went.
func connectionText(s agentapi.Setting) string {
	if s.Connection == nil {
		return ""
	}
	raw, err := json.Marshal(s.Connection)
	if err != nil {
		return ""
	}
	var c struct{ Status, Message string }
	if json.Unmarshal(raw, &c) != nil {
		return ""
	}
	return strings.TrimSpace(c.Status + " " + c.Message)
}

func (k *kind) list(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List those that you may see", Args: cobra.NoArgs,
		Example: fmt.Sprintf("  slipway %s list\n  slipway %s list --agent account.prod -o json", k.use, k.use),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			items, err := k.items(cmd.Context(), s, common.Agent)
			if err != nil {
				return s.Explain(err)
			}
			all := make([]shown, 0, len(items))
			for i := range items {
				one, err := show(&items[i])
				if err != nil {
					return err
				}
				all = append(all, one)
			}
			return noun.PrintList(common, all, append([]string{"ID"}, k.header...), func(v *shown) []string {
				return append([]string{v.ID()}, k.row(v.Setting)...)
			}, "no "+k.called+" that you may see")
		},
	}
}

func (k *kind) items(ctx context.Context, s *connect.Server, agent string) ([]api.Item, error) {
	all, err := k.of(s.Client).All(ctx, api.ItemFilter{})
	return slices.DeleteFunc(all, func(i api.Item) bool {
		return agent != "" && i.Agent != agent && !strings.HasSuffix(i.Agent, "."+agent)
	}), err
}

// find is the setting that an argument stands for: an id, a name, or an address.
func (k *kind) find(ctx context.Context, s *connect.Server, agent, arg string) (api.Item, error) {
	items, err := k.items(ctx, s, agent)
	if err != nil {
		return api.Item{}, s.Explain(err)
	}
	var found []api.Item
	var ids []string
	for i := range items {
		one, err := show(&items[i])
		if err != nil {
			return api.Item{}, err
		}
		f := one.Setting.Fields
		if slices.Contains([]string{items[i].ID(), items[i].Name, f["url"], f["server"]}, arg) ||
			k.setting == agentapi.SettingCluster && f["name"] == arg {
			found, ids = append(found, items[i]), append(ids, items[i].ID())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return api.Item{}, fmt.Errorf("there is no %s %s, or you may not see it; `slipway %s list` shows those that you see",
			k.called, arg, k.use)
	}
	return api.Item{}, iostream.Usagef("%d of them are %s: write one of %s, or use --agent", len(ids), arg,
		strings.Join(ids[:min(len(ids), 10)], ", "))
}

func targetOf(i *api.Item) api.Target {
	return api.Target{Agent: i.Agent, Namespace: i.Namespace, Name: i.Name}
}

func (k *kind) complete(common *connect.Common) cobra.CompletionFunc {
	return noun.Complete(common, func(ctx context.Context, s *connect.Server, prefix string) ([]string, error) {
		items, err := k.items(ctx, s, common.Agent)
		var out []string
		for i := range items {
			if strings.HasPrefix(items[i].Name, prefix) {
				out = append(out, cobra.CompletionWithDesc(items[i].Name, items[i].ID()))
			}
		}
		return out, err
	})
}

func (k *kind) get(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "get NAME", Short: "Show one, without its secrets", Args: cobra.ExactArgs(1),
		Example: fmt.Sprintf("  slipway %s get %s -o yaml", k.use, k.example), ValidArgsFunction: k.complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			item, err := k.find(cmd.Context(), s, common.Agent, args[0])
			if err != nil {
				return err
			}
			one, err := show(&item)
			if err != nil {
				return err
			}
			return noun.Print(common, one)
		},
	}
}

func (k *kind) remove(common *connect.Common) *cobra.Command {
	var force, dryRun bool
	var reason string
	cmd := &cobra.Command{
		Use: "delete NAME...", Short: "Delete some; those that applications use only with --force", Args: cobra.MinimumNArgs(1),
		Example: fmt.Sprintf("  slipway %s delete %s", k.use, k.example), ValidArgsFunction: k.complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			for _, arg := range args {
				item, err := k.find(cmd.Context(), s, common.Agent, arg)
				if err != nil {
					return err
				}
				if err := k.of(s.Client.Because(reason)).Delete(cmd.Context(), targetOf(&item), force, dryRun); err != nil {
					return s.Explain(noun.Forceable(err, force))
				}
				if err := noun.Done(common, k.called+" "+item.ID(), "deleted", dryRun, nil); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "delete it although applications use it")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check whether it could be deleted")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return cmd
}

// change is a setting to write: what is public, and what is sealed.
type change struct {
	*connect.Common
	name    string
	public  map[string]string
	secret  map[string]string
	upsert  bool
	test    bool
	dryRun  bool
	accept  bool
	reason  string
	labels  []string
	onlyTry bool
	// revision is what a test of a Git repository looks for.
	revision string
}

func (c *change) addFlags(flags *pflag.FlagSet, k *kind) {
	flags.BoolVar(&c.dryRun, "dry-run", false, "only validate at the agent and its API server, and write nothing")
	flags.BoolVar(&c.accept, "accept-new-key", false, "seal to the agent's key although it has changed")
	flags.StringVar(&c.reason, "reason", "", "why, for the audit")
	flags.StringArrayVar(&c.labels, "label", nil, "`key=value`, a label of the Secret; repeat for several")
	if k.tests {
		flags.BoolVar(&c.test, "test", false, "test the connection first, and change nothing if that fails")
	}
}

// body seals what is secret, for this agent, this setting, and what is done with it. have is the setting as it is there; nil
// for none.
func (c *change) body(ctx context.Context, k *kind, s *connect.Server, agent *api.Agent, have *api.Item) (api.SettingWrite, error) {
	out := api.SettingWrite{Name: c.name, Fields: c.public, Upsert: c.upsert, Test: c.test, Revision: c.revision, Reason: c.reason}
	var err error
	if out.Labels, err = noun.ReadLabels(c.labels); err != nil || len(c.secret) == 0 {
		return out, err
	}
	what := seal.Purpose{Verb: verb(c.onlyTry), Type: string(k.setting), Name: c.name, Open: c.public, Labels: out.Labels}
	project, given := c.public["project"]
	if what.Project = project; !given && have != nil {
		what.Project = have.ArgoProject
	}
	sealed, err := sealTo(ctx, s, agent, what, c.secret, c.accept)
	out.Sealed = api.Sealed(sealed)
	return out, err
}

// verb is what an agent is asked for.
func verb(onlyTry bool) string {
	if onlyTry {
		return string(agentapi.KindSettingsTest)
	}
	return string(agentapi.KindSettingsApply)
}

// sealTo seals fields to the key of an agent, for the signed-in user and for now. A key that changed has to be accepted: the
// server could have put its own in.
func sealTo(ctx context.Context, s *connect.Server, agent *api.Agent, what seal.Purpose, fields map[string]string,
	accept bool,
) (string, error) {
	if agent.SealKey == "" {
		return "", fmt.Errorf("agent %s has no key to seal secrets to yet: it gets one when it has registered; `slipway agent wait %s`", agent.ID,
			agent.ID)
	}
	for field := range fields {
		if t := agentapi.SettingType(what.Type); !t.Secret(field) {
			return "", iostream.Usagef("%s is no field of a %s that is sealed: those are %s", field, t, strings.Join(t.SecretFields(), ", "))
		}
	}
	key, err := seal.ParsePublicKey(agent.SealKey)
	if err != nil {
		return "", fmt.Errorf("seal secrets for agent %s: %w", agent.ID, err)
	}
	who, err := s.Client.Whoami(ctx)
	if err != nil {
		return "", s.Explain(err)
	}
	what.Agent, what.Actor, what.At = agent.UID, who.Principal.Type+":"+who.Principal.ID, time.Now()
	var raw []byte
	err = remote.Update(func(contexts *remote.Contexts) (err error) {
		if !contexts.Trust(s.Name.Server, agent.UID, agent.SealKey, accept) {
			return fmt.Errorf("the key of agent %s is another one than before, and nothing was sent: "+
				"if its keys were rotated or it was registered again, "+
				"repeat this with --accept-new-key; if not, the connection may be intercepted", agent.ID)
		}
		raw, err = seal.Seal(key, fields, what)
		return err
	})
	return base64.StdEncoding.EncodeToString(raw), err
}

// named finds the setting of an agent with a name; nil where there is none that may be seen.
func (k *kind) named(ctx context.Context, s *connect.Server, agent, name string) (*api.Item, error) {
	items, err := k.items(ctx, s, agent)
	if err != nil {
		return nil, s.Explain(err)
	}
	at := slices.IndexFunc(items, func(i api.Item) bool { return i.Agent == agent && i.Name == name })
	if at < 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	return &items[at], nil
}

// create has the agent make the setting, or only try it.
func (c *change) create(ctx context.Context, k *kind, address string) error {
	s, err := c.MustServer()
	if err != nil {
		return err
	}
	agent, err := s.TheAgent(ctx)
	if err != nil {
		return err
	}
	if c.name == "" {
		c.name = nameOf(k, address)
	}
	var have *api.Item
	if (c.upsert || c.onlyTry) && len(c.secret) > 0 {
		if have, err = k.named(ctx, s, agent.ID, c.name); err != nil {
			return err
		}
	}
	body, err := c.body(ctx, k, s, &agent, have)
	if err != nil {
		return err
	}
	if c.onlyTry {
		return c.try(ctx, k, s, agent.ID, body)
	}
	done, err := k.of(s.Client).Create(ctx, agent.ID, body, c.dryRun)
	if err != nil {
		return s.Explain(err)
	}
	return c.done(k, done, "created")
}

func (c *change) done(k *kind, done api.Command, did string) error {
	var result agentapi.SettingResult
	if err := json.Unmarshal(done.Result, &result); err == nil && c.Output != iostream.Table {
		return c.Print(c.Output, result.Setting)
	}
	return noun.Done(c.Common, k.called+" "+c.name+" of agent "+done.Agent, did, c.dryRun, nil)
}

// update changes what was given, and leaves the rest, secrets too.
func (c *change) update(ctx context.Context, k *kind, arg string) error {
	s, err := c.MustServer()
	if err != nil {
		return err
	}
	item, err := k.find(ctx, s, c.Agent, arg)
	if err != nil {
		return err
	}
	agent, err := s.Client.AgentEntities().Get(ctx, item.Agent)
	if err != nil {
		return s.Explain(err)
	}
	c.name = item.Name
	body, err := c.body(ctx, k, s, &agent, &item)
	if err != nil {
		return err
	}
	done, err := k.of(s.Client).Update(ctx, targetOf(&item), body, c.dryRun)
	if err != nil {
		return s.Explain(err)
	}
	return c.done(k, done, "changed")
}

func (c *change) try(ctx context.Context, k *kind, s *connect.Server, agent string, body api.SettingWrite) error {
	found, err := k.of(s.Client).Test(ctx, agent, body)
	if err != nil {
		return s.Explain(err)
	}
	if c.Output != iostream.Table {
		if err := c.Print(c.Output, found); err != nil {
			return err
		}
	}
	if c.Output == iostream.Table {
		for _, line := range stepLines(found.Steps) {
			if _, err := fmt.Fprintln(c.Out, line); err != nil {
				return err
			}
		}
	}
	if !found.OK {
		return iostream.NotYetf("agent %s cannot use it: %s", agent, found.Message)
	}
	c.Sayf("agent %s can use it", agent)
	return nil
}

// nameOf makes a name of an address, always the same one.
func nameOf(k *kind, address string) string {
	sum := sha256.Sum256([]byte(address))
	return string(k.setting) + "-" + hex.EncodeToString(sum[:5])
}

func newSealCmd(common *connect.Common) *cobra.Command {
	var what, name, project string
	var files, open, labels []string
	var accept, try bool
	cmd := &cobra.Command{
		Use: "seal", Short: "Seal secrets to an agent's key, for a request that is sent by hand", Args: cobra.NoArgs,
		Long: "Seal the secret fields of a setting to the key of the agent, and print the text for `sealed` of a request. It\n" +
			"opens within 30 minutes, for a request of the signed-in user, with this agent, type, name, project, labels and open fields only.\n" +
			"`slipway repo create` and similar commands seal their secrets automatically.",
		Example: "  slipway seal --agent account.prod --type repository --name shop --open url=https://git.example.org/shop.git " +
			"--field password=password.txt",
		RunE: func(cmd *cobra.Command, _ []string) error {
			fields := map[string]string{}
			for _, text := range files {
				field, file, ok := strings.Cut(text, "=")
				if !ok || field == "" || file == "" {
					return iostream.Usagef("--field %q is not FIELD=FILE", text)
				}
				var err error
				if fields[field], err = common.Secret("field "+field, file); err != nil {
					return err
				}
			}
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			agent, err := s.TheAgent(cmd.Context())
			if err != nil {
				return err
			}
			public, err := noun.ReadLabels(open)
			if err != nil {
				return err
			}
			if given, ok := public["project"]; ok {
				project = given
			}
			labelled, err := noun.ReadLabels(labels)
			if err != nil {
				return err
			}
			purpose := seal.Purpose{Verb: verb(try), Type: what, Name: name, Project: project, Open: public, Labels: labelled}
			sealed, err := sealTo(cmd.Context(), s, &agent, purpose, fields, accept)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(common.Out, sealed)
			return err
		},
	}
	cmd.Flags().StringVar(&what, "type", "repository", "`type` of the setting: repository, repocreds, cluster")
	cmd.Flags().StringVar(&name, "name", "", "`name` of the setting")
	cmd.Flags().StringVar(&project, "project", "", "`name` of the AppProject of the setting, if the request does not change it (default all)")
	cmd.Flags().StringArrayVar(&open, "open", nil, "`FIELD=VALUE`: a field of the request that is not sealed; all of them, repeat for several")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "`key=value`: a label of the request; all of them, repeat for several")
	cmd.Flags().BoolVar(&try, "test", false, "for a request that only tries the connection")
	cmd.Flags().StringArrayVar(&files, "field", nil,
		"`FIELD=FILE`: a field, and the file with its value, - for standard input; repeat for several")
	cmd.Flags().BoolVar(&accept, "accept-new-key", false, "seal to the agent's key although it has changed")
	return cmd
}

// gather reads what flags say into a change: public values as they are, secret ones from their files.
func gather(c *change, public map[string]string, secret map[string]string) error {
	c.public, c.secret = maps.Clone(public), map[string]string{}
	stdin := ""
	for _, field := range slices.Sorted(maps.Keys(secret)) {
		file := secret[field]
		if file == "-" {
			if stdin != "" {
				return iostream.Usagef("%s and %s cannot both be on standard input", stdin, field)
			}
			stdin = field
		}
		value, err := c.Secret(field, file)
		if err != nil {
			return err
		}
		c.secret[field] = value
	}
	return nil
}
