// Package notify is `slipway notify`: where notifications go, which there are, and what became of them.
package notify

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// NewCmd returns the command.
func NewCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "notify", Aliases: []string{"notification", "notifications"}, Short: "Notifications: channels, rules, and the state of messages",
		Example: "  slipway notify channel list\n  slipway notify delivery list --state Dead",
	}
	cmd.AddCommand(newChannelCmd(common), newRuleCmd(common), newDeliveryCmd(common))
	return cmd
}

func newChannelCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.NotificationChannel, *api.NotificationChannel]{
		Use: "channel", Under: "notify", Aliases: []string{"channels"}, Called: "notification channel", Short: "Where notifications go",
		Entities: (*client.Client).NotificationChannels, Name: "org.acme.ops",
		Header: []string{"KIND", "SECRET", "URL"}, Row: func(v *api.NotificationChannel) []string { return []string{v.Kind, v.Secret, v.URL} },
		Flags: func(flags *pflag.FlagSet) func(*api.NotificationChannel, func(string) bool) error {
			kind := flags.String("kind", "", "`kind` of the receiver: "+strings.Join(kinds(), ", "))
			secret := flags.String("secret", "", "`name` of the file <scope>.<name> in the directory of the server's --notify-secrets")
			url := flags.String("url", "", "`URL` where a webhook goes")
			options := flags.StringArray("option", nil,
				"`name=value` of a field of the kind that is not secret; replaces earlier ones; repeat for several")
			return func(v *api.NotificationChannel, given func(string) bool) error {
				for flag, into := range map[string]struct{ from, to *string }{
					"kind": {kind, &v.Kind}, "secret": {secret, &v.Secret}, "url": {url, &v.URL},
				} {
					if given(flag) {
						*into.to = *into.from
					}
				}
				if err := noun.OneOf("kind", kinds(), v.Kind); err != nil {
					return err
				}
				if !given("option") {
					return nil
				}
				v.Options = map[string]string{}
				for _, text := range *options {
					name, value, ok := strings.Cut(text, "=")
					if !ok {
						return iostream.Usagef("--option %q is none: write name=value, as color=danger", text)
					}
					v.Options[name] = value
				}
				return nil
			}
		},
		Example: "  slipway notify channel create org.acme.ops --kind slack --secret slack-prod\n" +
			"  slipway notify channel create hooks --kind webhook --url https://hooks.example.org/slipway --secret hooks",
	}
	cmd := n.Cmd(common)
	test := &cobra.Command{
		Use: "test ID", Short: "Send a test message", Args: cobra.ExactArgs(1), ValidArgsFunction: n.Complete(common),
		Example: "  slipway notify channel test org.acme.ops",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			result, err := s.Client.TestChannel(cmd.Context(), idOf(args[0]))
			if err != nil {
				return s.Explain(err)
			}
			if !result.Sent {
				return errors.New("the message was not sent: " + result.Message)
			}
			common.Sayf("sent")
			return nil
		},
	}
	cmd.AddCommand(test)
	return cmd
}

// kinds are those of channels, as the API says them.
func kinds() []string {
	field, _ := reflect.TypeFor[api.NotificationChannel]().FieldByName("Kind")
	return strings.Split(field.Tag.Get("enum"), ",")
}

// idOf is the id that an argument stands for: a name alone is of the account.
func idOf(arg string) string {
	if strings.Contains(arg, ".") {
		return arg
	}
	return api.ScopeAccount.ID(arg)
}

func newRuleCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.NotificationRule, *api.NotificationRule]{
		Use: "rule", Under: "notify", Aliases: []string{"rules"}, Called: "notification rule", Short: "Events that are sent to channels",
		Entities: (*client.Client).NotificationRules, Name: "org.acme.failures",
		Header: []string{"EVENTS", "CHANNEL", "SELECTOR", "PAUSED"},
		Row: func(v *api.NotificationRule) []string {
			return []string{strings.Join(v.Events, ","), v.Channel, v.Selector, strconv.FormatBool(v.Paused)}
		},
		Flags: ruleFlags,
		Example: "  slipway notify rule create org.acme.failures --event sync.failed --event degraded --channel org.acme.ops --repeat 1h\n" +
			"  slipway notify rule create drift --event drift --after 4h --channel ops --selector team=shop",
	}
	cmd := n.Cmd(common)
	preview := &cobra.Command{
		Use: "preview ID", Short: "Show the message of a rule for an example event", Args: cobra.ExactArgs(1),
		ValidArgsFunction: n.Complete(common),
		Example:           "  slipway notify rule preview org.acme.failures",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			rule, err := s.Client.NotificationRules().Get(cmd.Context(), idOf(args[0]))
			if err != nil {
				return s.Explain(err)
			}
			text, err := s.Client.PreviewRule(cmd.Context(), rule)
			if err != nil {
				return s.Explain(err)
			}
			return noun.Print(common, &text)
		},
	}
	cmd.AddCommand(preview)
	return cmd
}

func ruleFlags(flags *pflag.FlagSet) func(*api.NotificationRule, func(string) bool) error {
	events := flags.StringArray("event", nil, "`event` of the rule: "+strings.Join(api.NotificationEvents(), ", ")+"; repeat for several")
	channel := flags.String("channel", "", "`id` of the channel")
	selector := flags.String("selector", "", "only objects with such `labels`, as team=shop,env!=dev")
	services := flags.StringArray("service", nil, "only applications of this service, by `id`; repeat for several")
	environments := flags.StringArray("environment", nil, "only applications of this environment, by `id`; repeat for several")
	after := flags.String("after", "", "how `long` an application has drifted or an agent is away before it is reported (default 1h)")
	before := flags.String("before", "", "how `long` before the end of a certificate or token it is reported (default 168h)")
	repeat := flags.String("repeat", "", "send the same event at most once in this `time`")
	title := flags.String("title", "", "`template` of the first line")
	text := flags.String("text", "", "`template` of the text")
	paused := flags.Bool("paused", false, "send nothing for now")
	return func(v *api.NotificationRule, given func(string) bool) error {
		for flag, into := range map[string]struct{ from, to *string }{
			"selector": {selector, &v.Selector}, "after": {after, &v.After}, "before": {before, &v.Before},
			"repeat": {repeat, &v.Repeat}, "title": {title, &v.Title}, "text": {text, &v.Text},
		} {
			if given(flag) {
				*into.to = *into.from
			}
		}
		for flag, into := range map[string]struct{ from, to *[]string }{
			"event": {events, &v.Events}, "service": {services, &v.Services}, "environment": {environments, &v.Environments},
		} {
			if given(flag) {
				*into.to = *into.from
			}
		}
		if given("channel") {
			v.Channel = idOf(*channel)
		}
		if err := noun.OneOf("event", api.NotificationEvents(), v.Events...); err != nil {
			return err
		}
		if given("paused") {
			v.Paused = *paused
		}
		return nil
	}
}
