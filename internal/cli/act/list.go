package act

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/action"
)

func newListCmd(common *connect.Common) *cobra.Command {
	s := subject{Common: common}
	cmd := &cobra.Command{
		Use:   "list -f FILE | --app NAME --resource RESOURCE",
		Short: "List the actions that objects offer",
		Long: "List the actions that each object in a file offers in the state it is in, or a live object of an application. A\n" +
			"disabled action makes no sense in that state. With -o json, one line for each object: a list of\n" +
			"{\"name\", \"disabled\", \"displayName\", \"iconClass\", \"params\"}, empty for a kind that has no actions.",
		Example: "  kubectl get deployment web -o yaml | slipway action list -f -\n" +
			"  slipway action list -f live.yaml --settings argocd-cm.yaml -o json\n" +
			"  slipway action list --app web --resource apps/Deployment:web",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), s) },
	}
	s.addFlags(cmd)
	return cmd
}

func listRun(ctx context.Context, s subject) error {
	names, answers, err := s.list(ctx)
	if err != nil {
		return err
	}
	rows := iostream.Rows{Header: []string{"OBJECT", "ACTION", "STATE", "PARAMETERS", "TITLE"}}
	for i, all := range answers {
		for _, a := range all {
			state := "enabled"
			if a.Disabled {
				state = "disabled"
			}
			rows.Add(names[i], a.Name, state, strings.Join(a.Params, ","), a.DisplayName)
		}
	}
	switch s.Output {
	case iostream.JSON:
		return lines(s.Streams, answers)
	case iostream.YAML:
		return s.Print(s.Output, answers)
	}
	return s.Streams.Table(&rows)
}

// list returns the actions of each object, and how it is called.
func (s *subject) list(ctx context.Context) (names []string, answers [][]action.Action, err error) {
	r, err := findRemote(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if r != nil {
		all, err := r.list(ctx)
		return []string{r.name()}, [][]action.Action{all}, err
	}
	docs, actions, _, err := s.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		all, err := actions.List(doc, action.Env{Now: time.Now()})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name(doc), err)
		}
		names, answers = append(names, name(doc)), append(answers, all)
	}
	return names, answers, nil
}

// lines writes each value as one line of JSON.
func lines[T any](streams iostream.Streams, values []T) error {
	enc := json.NewEncoder(streams.Out)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
	return nil
}
