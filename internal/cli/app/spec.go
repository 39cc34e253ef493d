package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// specFlags are the flags that describe an Application of one source.
type specFlags struct {
	name            string
	repo            string
	path            string
	chart           string
	revision        string
	project         string
	destServer      string
	destName        string
	destNamespace   string
	autoSync        bool
	prune           bool
	selfHeal        bool
	createNamespace bool
	helmValues      []string
	helmSet         []string
	kustomizeImages []string
	syncOptions     []string
	labels          []string
}

// addFlags registers the flags and returns their names.
func (s *specFlags) addFlags(flags *pflag.FlagSet) []string {
	own := pflag.NewFlagSet("application", pflag.ContinueOnError)
	own.StringVar(&s.repo, "repo", "", "`URL` of the Git repository, Helm repository or OCI registry")
	own.StringVar(&s.path, "path", "", "`directory` in the repository")
	own.StringVar(&s.chart, "chart", "", "`name` of the chart, where --repo is a Helm repository or an OCI registry")
	own.StringVar(&s.revision, "revision", "", "`branch`, tag, commit or version to follow (default HEAD, or the newest version)")
	own.StringVar(&s.project, "project", v1alpha1.DefaultProject, "AppProject whose rules apply")
	own.StringVar(&s.destServer, "dest-server", "", "`URL` of the destination cluster (default the agent's own)")
	own.StringVar(&s.destName, "dest-name", "", "`name` of the destination cluster, instead of its URL")
	own.StringVar(&s.destNamespace, "dest-namespace", "", "`namespace` for objects without one")
	own.BoolVar(&s.autoSync, "auto-sync", false, "sync automatically when Git changes")
	own.BoolVar(&s.prune, "prune", false, "with --auto-sync: delete objects that are no longer wanted")
	own.BoolVar(&s.selfHeal, "self-heal", false, "with --auto-sync: revert changes in the cluster")
	own.BoolVar(&s.createNamespace, "create-namespace", false, "create the destination namespace if it is missing")
	own.StringArrayVar(&s.helmValues, "helm-values", nil, "values `file`, relative to the chart; repeat for several")
	own.StringArrayVar(&s.helmSet, "helm-set", nil, "Helm value as `name=value`; repeat for several")
	own.StringArrayVar(&s.kustomizeImages, "kustomize-image", nil, "image to replace as `[name=]new:tag`; repeat for several")
	own.StringArrayVar(&s.syncOptions, "sync-option", nil, "sync option as `Name=value`; repeat for several")
	own.StringArrayVarP(&s.labels, "label", "l", nil, "label of the Application as `name=value`; repeat for several")
	var names []string
	own.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	flags.AddFlagSet(own)
	return names
}

// application builds the Application that the flags describe, in no namespace yet.
func (s *specFlags) application() (*unstructured.Unstructured, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	source, err := s.source()
	if err != nil {
		return nil, err
	}
	labels, err := pairs("--label", s.labels)
	if err != nil {
		return nil, err
	}
	app := v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{
		Source:  &source,
		Project: s.project,
		Destination: v1alpha1.ApplicationDestination{
			Server: s.destServer, Name: s.destName, Namespace: s.destNamespace,
		},
		SyncPolicy: s.policy(),
	}}
	if s.destName == "" {
		app.Spec.Destination.Server = cmp.Or(s.destServer, v1alpha1.InClusterServer)
	}
	app.APIVersion, app.Kind = v1alpha1.GroupVersion().String(), v1alpha1.KindApplication
	app.Name = s.name
	for _, p := range labels {
		if app.Labels == nil {
			app.Labels = map[string]string{}
		}
		app.Labels[p.name] = p.value
	}
	raw, err := json.Marshal(app)
	if err != nil {
		return nil, fmt.Errorf("encode application %s: %w", s.name, err)
	}
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &obj.Object); err != nil {
		return nil, fmt.Errorf("encode application %s: %w", s.name, err)
	}
	unstructured.RemoveNestedField(obj.Object, "metadata", "creationTimestamp")
	return obj, nil
}

func (s *specFlags) check() error {
	switch {
	case s.repo == "":
		return iostream.Usagef("--repo is missing: the URL of the repository to deploy from")
	case s.path == "" && s.chart == "":
		return iostream.Usagef("give --path (a directory in Git, . for the root) or --chart (in a Helm repository)")
	case s.path != "" && s.chart != "":
		return iostream.Usagef("give --path or --chart, not both")
	case s.destServer != "" && s.destName != "":
		return iostream.Usagef("give --dest-server or --dest-name, not both")
	case (s.prune || s.selfHeal) && !s.autoSync:
		return iostream.Usagef("--prune and --self-heal are about automated sync: add --auto-sync")
	case len(s.kustomizeImages) > 0 && len(s.helmSet)+len(s.helmValues) > 0:
		return iostream.Usagef("give Helm or Kustomize flags, not both: a source is rendered by one of them")
	}
	for _, option := range s.syncOptions {
		if name, value, ok := strings.Cut(option, "="); !ok || name == "" || value == "" {
			return iostream.Usagef("--sync-option %q is not Name=value, for example PruneLast=true", option)
		}
	}
	return nil
}

func (s *specFlags) source() (v1alpha1.ApplicationSource, error) {
	source := v1alpha1.ApplicationSource{RepoURL: s.repo, Path: s.path, Chart: s.chart, TargetRevision: s.revision}
	if len(s.helmSet)+len(s.helmValues) > 0 {
		set, err := pairs("--helm-set", s.helmSet)
		if err != nil {
			return source, err
		}
		source.Helm = &v1alpha1.HelmSource{ValueFiles: s.helmValues}
		for _, p := range set {
			source.Helm.Parameters = append(source.Helm.Parameters, v1alpha1.HelmParameter{Name: p.name, Value: p.value})
		}
	}
	if len(s.kustomizeImages) > 0 {
		source.Kustomize = &v1alpha1.KustomizeSource{Images: s.kustomizeImages}
	}
	return source, nil
}

func (s *specFlags) policy() *v1alpha1.SyncPolicy {
	policy := v1alpha1.SyncPolicy{SyncOptions: s.syncOptions}
	if s.createNamespace {
		policy.SyncOptions = append(policy.SyncOptions, v1alpha1.OptionCreateNamespace+"="+v1alpha1.OptionTrue)
	}
	if s.autoSync {
		policy.Automated = &v1alpha1.AutomatedSync{Prune: onlyTrue(s.prune), SelfHeal: onlyTrue(s.selfHeal)}
	}
	if policy.Automated == nil && len(policy.SyncOptions) == 0 {
		return nil
	}
	return &policy
}

// onlyTrue leaves a switch out of the manifest where it has its default.
func onlyTrue(on bool) *bool {
	if !on {
		return nil
	}
	return &on
}

type pair struct{ name, value string }

func pairs(flag string, texts []string) ([]pair, error) {
	out := make([]pair, 0, len(texts))
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, iostream.Usagef("%s %q is not name=value", flag, text)
		}
		out = append(out, pair{name, value})
	}
	return out, nil
}
