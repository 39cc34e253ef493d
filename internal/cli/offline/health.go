package offline

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/engine/health"
)

type healthOptions struct {
	*access.Common
	file string
}

func newHealthCmd(common *access.Common) *cobra.Command {
	o := healthOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "health -f FILE",
		Short: "Judge the health of live objects in a file",
		Long: "Judge the health of each object in a file, as `kubectl get -o yaml` writes it. With -o json, one line\n" +
			"{\"status\", \"message\"} for each, in their order; the status is empty for a kind that has no health.",
		Example: "  kubectl get deployment web -o yaml | slipway health -f -\n  slipway health -f live.yaml -o json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return healthRun(o) },
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "`file` with objects, - for standard input")
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
	rows := iostream.Rows{Header: []string{"OBJECT", "HEALTH", "MESSAGE"}}
	answers := make([]answer, 0, len(docs))
	for _, doc := range docs {
		result, _ := health.Assess(doc)
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
