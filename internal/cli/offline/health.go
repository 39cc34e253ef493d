package offline

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/engine/health"
)

type healthOptions struct {
	*connect.Common
	file     string
	settings string
}

func newHealthCmd(common *connect.Common) *cobra.Command {
	o := healthOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "health -f FILE",
		Short: "Judge the health of live objects in a file",
		Long: "Judge the health of each object in a file, as `kubectl get -o yaml` writes it. With -o json, one line\n" +
			"{\"status\", \"message\"} for each, in their order; the status is empty for a kind that has no health.\n\n" +
			"--settings takes the ConfigMap argocd-cm, whose health scripts win over what is known here. An object of a\n" +
			"custom kind is judged as if it were not being deleted; the agent reports Progressing for one that is.",
		Example: "  kubectl get deployment web -o yaml | slipway health -f -\n" +
			"  slipway health -f live.yaml --settings argocd-cm.yaml -o json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return healthRun(o) },
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "`file` with objects, - for standard input")
	cmd.Flags().StringVar(&o.settings, "settings", "", "`file` with the ConfigMap argocd-cm")
	return cmd
}

// answer is one line of `slipway health -o json`.
type answer struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func healthRun(o healthOptions) error {
	if o.file == "" {
		return iostream.Usagef("give the file with -f")
	}
	docs, err := manifest.Read(o.file, o.In)
	if err != nil {
		return err
	}
	scripts, err := readScripts(o)
	if err != nil {
		return err
	}
	assessor := health.New(scripts).WithClock(time.Now)
	rows := iostream.Rows{Header: []string{"OBJECT", "HEALTH", "MESSAGE"}}
	answers := make([]answer, 0, len(docs))
	for _, doc := range docs {
		result, _ := assessor.Judge(doc)
		answers = append(answers, answer{Status: string(result.Status), Message: result.Message})
		rows.Add(name(doc), string(result.Status), result.Message)
	}
	switch o.Output {
	case iostream.JSON:
		enc := json.NewEncoder(o.Out)
		enc.SetEscapeHTML(false)
		for _, a := range answers {
			if err := enc.Encode(a); err != nil {
				return fmt.Errorf("write health: %w", err)
			}
		}
		return nil
	case iostream.YAML:
		return o.Print(o.Output, answers)
	}
	return o.Streams.Table(&rows)
}

// settingsName is the ConfigMap in which Argo CD keeps health scripts.
const settingsName = "argocd-cm"

// readScripts reads the health scripts in the file that --settings names. Errors in it are reported, and left out.
func readScripts(o healthOptions) (map[string]health.Script, error) {
	if o.settings == "" {
		return nil, nil
	}
	if o.settings == "-" {
		return nil, iostream.Usagef("--settings needs a file; standard input is for objects")
	}
	docs, err := manifest.Read(o.settings, nil)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		meta, _ := doc["metadata"].(map[string]any)
		if doc["kind"] != "ConfigMap" || meta["name"] != settingsName {
			continue
		}
		data := map[string]string{}
		values, _ := doc["data"].(map[string]any)
		for key, value := range values {
			if text, ok := value.(string); ok {
				data[key] = text
			}
		}
		scripts, errs := health.ParseOverrides(data)
		for _, err := range errs {
			fmt.Fprintf(o.Streams.Err, "warning: %s: %v\n", o.settings, err)
		}
		return scripts, nil
	}
	return nil, fmt.Errorf("%s holds no ConfigMap %s; give the file with Argo CD's settings", o.settings, settingsName)
}

// name prints "Deployment shop/web" for an object tree that may lack any part of it.
func name(doc map[string]any) string {
	kind, _ := doc["kind"].(string)
	meta, _ := doc["metadata"].(map[string]any)
	text, _ := meta["name"].(string)
	if namespace, ok := meta["namespace"].(string); ok && namespace != "" {
		text = namespace + "/" + text
	}
	return kind + " " + text
}
