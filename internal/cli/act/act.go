// Package act is `slipway action`: what can be asked of an object beside a sync, on manifests in a file or on the live
// objects of an application.
package act

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/engine/action"
)

// NewCmd returns the command `action` with its verbs.
func NewCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "action",
		Aliases: []string{"actions"},
		Short:   "See and run actions on objects: restart, pause, scale, promote, ...",
		Long: "Actions are changes of an object other than a sync: those that Argo CD has for 36 kinds, and your own in\n" +
			"the ConfigMap argocd-cm. They work on objects in a file, which changes nothing, or on a live object of an\n" +
			"application, which they change with the rights of your kubeconfig.",
		Example: "  slipway action list -f live.yaml\n  slipway action run restart --app web --resource apps/Deployment:web",
	}
	cmd.AddCommand(newListCmd(common), newRunCmd(common))
	return cmd
}

// subject says which objects a command is about, and which actions there are for them.
type subject struct {
	*connect.Common
	file     string
	settings string
	app      string
	resource string
}

func (s *subject) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&s.file, "file", "f", "", "`file` with objects, - for standard input")
	cmd.Flags().StringVar(&s.settings, "settings", "", "`file` with the ConfigMap argocd-cm (default with --app: the cluster's)")
	cmd.Flags().StringVar(&s.app, "app", "", "`name` of the application whose live object it is")
	cmd.Flags().StringVar(&s.resource, "resource", "", "the live object: `[GROUP/]KIND:[NAMESPACE/]NAME`")
	cmd.MarkFlagsMutuallyExclusive("file", "app")
	cmd.MarkFlagsOneRequired("file", "app")
	cmd.MarkFlagsRequiredTogether("app", "resource")
}

// read returns the objects and the actions. The target is nil for objects of a file.
func (s *subject) read(ctx context.Context) ([]map[string]any, *action.Actions, *target, error) {
	var data map[string]string
	var err error
	if s.settings != "" {
		if data, err = readSettings(s.settings); err != nil {
			return nil, nil, nil, err
		}
	}
	if s.file != "" {
		docs, err := manifest.Read(s.file, s.In)
		return docs, s.actions(data), nil, err
	}
	t, err := findTarget(ctx, s)
	if err != nil {
		return nil, nil, nil, err
	}
	if s.settings == "" {
		if data, err = t.settings(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	return []map[string]any{t.live.Object}, s.actions(data), t, nil
}

// actions also reports errors in the settings of kinds that were not requested.
func (s *subject) actions(data map[string]string) *action.Actions {
	actions := action.New(data)
	for _, err := range actions.Problems() {
		s.Sayf("warning: %v", err)
	}
	return actions
}

// settingsName is the ConfigMap in which Argo CD keeps a user's actions.
const settingsName = "argocd-cm"

// readSettings reads the data of the ConfigMap argocd-cm in a file.
func readSettings(file string) (map[string]string, error) {
	if file == "-" {
		return nil, iostream.Usagef("--settings needs a file; standard input is for objects")
	}
	docs, err := manifest.Read(file, nil)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		meta, _ := doc["metadata"].(map[string]any)
		if doc["kind"] == "ConfigMap" && meta["name"] == settingsName {
			return texts(doc), nil
		}
	}
	return nil, fmt.Errorf("%s holds no ConfigMap %s; give the file with Argo CD's settings", file, settingsName)
}

// texts returns the data of a ConfigMap.
func texts(configMap map[string]any) map[string]string {
	out := map[string]string{}
	values, _ := configMap["data"].(map[string]any)
	for key, value := range values {
		if text, ok := value.(string); ok {
			out[key] = text
		}
	}
	return out
}

// name prints "Deployment shop/web" for an object that may lack any part of it.
func name(obj map[string]any) string {
	_, text, _ := strings.Cut(action.Impact{Object: obj}.String(), " ")
	return text
}
