package notify

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

func newDeliveryCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delivery", Aliases: []string{"deliveries"}, Short: "Messages: those that wait, were sent, or are dead",
		Example: "  slipway notify delivery list --state Dead\n  slipway notify delivery resend 6b1f0c5a9d2e4f708192a3b4c5d6e7f8",
	}
	get := &cobra.Command{
		Use: "get ID", Short: "Show one", Args: cobra.ExactArgs(1), Example: "  slipway notify delivery get 6b1f0c5a9d2e4f708192a3b4c5d6e7f8",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			d, err := s.Client.Delivery(cmd.Context(), args[0])
			if err != nil {
				return s.Explain(err)
			}
			return noun.Print(common, &d)
		},
	}
	cmd.AddCommand(newDeliveryListCmd(common), get, newResendCmd(common))
	return cmd
}

// which says which messages a command is about.
type which struct {
	*connect.Common
	api.DeliveryFilter
}

func (o *which) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Rule, "rule", "", "only those of this rule, by `id`")
	flags.StringVar(&o.Channel, "channel", "", "only those to this channel, by `id`")
	flags.StringVar(&o.Event, "event", "", "only those about this `event`")
	flags.StringVar(&o.Object, "object", "", "only those about this object, by `id`")
}

func (o *which) check() error {
	if o.Rule != "" {
		o.Rule = idOf(o.Rule)
	}
	if o.Channel != "" {
		o.Channel = idOf(o.Channel)
	}
	events := append(api.NotificationEvents(), api.NotifyTest)
	return cmp.Or(noun.OneOf("event", events, o.Event),
		noun.OneOf("state", []string{api.DeliveryWaiting, api.DeliverySent, api.DeliveryDead, api.DeliveryQuiet}, o.State))
}

func newDeliveryListCmd(common *connect.Common) *cobra.Command {
	o := which{Common: common}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List those that you may see, the newest first", Args: cobra.NoArgs,
		Example: "  slipway notify delivery list --rule org.acme.failures\n  slipway notify delivery list --state Dead --channel org.acme.ops",
		RunE:    func(cmd *cobra.Command, _ []string) error { return deliveryListRun(cmd.Context(), o) },
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.State, "state", "", "only those in this `state`: Waiting, Sent, Dead or Quiet")
	cmd.Flags().IntVar(&o.Limit, "limit", api.DefaultLimit, "how `many` at most")
	return cmd
}

func deliveryListRun(ctx context.Context, o which) error {
	if o.Limit < 1 {
		return iostream.Usagef("--limit is at least 1")
	}
	if err := o.check(); err != nil {
		return err
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	page, err := s.Client.Deliveries(ctx, o.DeliveryFilter)
	if err != nil {
		return s.Explain(err)
	}
	if more := page.Total - int64(len(page.Items)); more > 0 && o.Output == iostream.Table {
		defer o.Sayf("there are %d more, older ones: raise --limit, or narrow the filter", more)
	}
	return noun.PrintList(o.Common, page.Items, []string{"ID", "STATE", "CREATED", "ATTEMPTS", "RULE", "EVENT", "OBJECT", "MESSAGE"},
		func(d *api.NotificationDelivery) []string {
			return []string{
				d.ID, d.State, noun.Time(d.CreatedAt), strconv.FormatInt(d.Attempts, 10), d.Rule, d.Event.Event, d.Event.Object.ID, d.Message,
			}
		}, "no messages that you may see")
}

func newResendCmd(common *connect.Common) *cobra.Command {
	o := which{Common: common}
	var dead bool
	cmd := &cobra.Command{
		Use: "resend [ID...]", Short: "Send messages again, with all attempts: the named ones, or with --dead all that are dead",
		Example: "  slipway notify delivery resend 6b1f0c5a9d2e4f708192a3b4c5d6e7f8\n  slipway notify delivery resend " +
			"--dead --channel org.acme.ops",
		RunE: func(cmd *cobra.Command, args []string) error {
			filtered := cmd.Flags().Changed("rule") || cmd.Flags().Changed("channel") || cmd.Flags().Changed("event") ||
				cmd.Flags().Changed("object")
			switch {
			case dead && len(args) > 0:
				return iostream.Usagef("give ids or --dead, not both")
			case !dead && len(args) == 0:
				return iostream.Usagef("choose messages by id, or with --dead all that are dead; " +
					"`slipway notify delivery list --state Dead` lists them")
			case !dead && filtered:
				return iostream.Usagef("--rule, --channel, --event and --object choose among those that are dead: give --dead with them")
			}
			return resendRun(cmd.Context(), o, args)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&dead, "dead", false, "all that were given up; --rule, --channel, --event and --object narrow them")
	return cmd
}

func resendRun(ctx context.Context, o which, ids []string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		o.State = api.DeliveryDead
		// All are read before the first is sent: it is dead no more then, and pages would move.
		found, err := client.All(api.ListOptions{Limit: api.MaxLimit}, func(options api.ListOptions) (api.Page[api.NotificationDelivery], error) {
			o.ListOptions = options
			return s.Client.Deliveries(ctx, o.DeliveryFilter)
		})
		if err != nil {
			return s.Explain(err)
		}
		for i := range found {
			ids = append(ids, found[i].ID)
		}
	}
	sent := make([]api.NotificationDelivery, 0, len(ids))
	for _, id := range ids {
		d, err := s.Client.ResendDelivery(ctx, id)
		if err != nil {
			return fmt.Errorf("%w; %d of %d are sent again", s.Explain(err), len(sent), len(ids))
		}
		sent = append(sent, d)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, map[string]any{"items": sent})
	}
	if len(sent) == 0 {
		o.Sayf("no message that you may see is dead")
		return nil
	}
	o.Sayf("%d sent again; `slipway notify delivery list` shows what becomes of them", len(sent))
	return nil
}
