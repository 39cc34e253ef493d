package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// Where the manifest looks for the registration token.
const (
	tokenSecret = "slipway-agent-registration"
	tokenKey    = "token"
)

type installOptions struct {
	*connect.Common
	api.InstallOptions
	id        string
	caFile    string
	keysFile  string
	helm      bool
	tokenFile string
	dryRun    bool
}

func (o *installOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Namespaced, "namespaced", false, "create roles in the namespace only, not in the cluster")
	flags.StringSliceVar(&o.Namespaces, "namespaces", nil,
		"with --namespaced, `names` of the namespaces that the agent deploys to (default none)")
	flags.StringVar(&o.Registry, "registry", "", "`registry` to pull the image from instead, such as registry.example.org/mirror")
	flags.StringVar(&o.PullSecret, "pull-secret", "", "`name` of the Secret with the registry's credentials")
	flags.StringVar(&o.Proxy, "proxy", "", "`URL` of the proxy for what leaves the cluster")
	flags.StringVar(&o.NoProxy, "no-proxy", "", "`hosts` that bypass the proxy, separated by commas")
	flags.StringVar(&o.caFile, "ca-file", "",
		"PEM `file` with certificates that sign the server's, or those of a proxy that looks inside (default that of the "+
			"login, or the server's own)")
	flags.StringVar(&o.ExistingSecret, "existing-secret",
		"", "`name` of the Secret that holds the registration token (default "+tokenSecret+")")
	flags.StringVar(&o.keysFile, "release-keys", "",
		"PEM `file` with public keys that releases of the agent are signed with (default those of the server)")
	flags.StringVar(&o.ClientCertSecret, "client-cert-secret", "",
		"`name` of a Secret of type kubernetes.io/tls with the certificate that the agent presents to a server that asks for one")
	flags.StringVar(&o.CAConfigMap, "ca-config-map", "",
		"`name` of a ConfigMap that has the certificates of --ca-file under ca.crt already")
	flags.StringVar(&o.Succession, "succession", "", "`name` that the agent shares with its standby in another cluster")
	flags.BoolVar(&o.Standby, "standby", false, "with --succession: the agent waits until 'slipway agent promote' makes it take over")
	flags.BoolVar(&o.SkipCRDs, "skip-crds", false, "keep the agent from installing custom resource definitions")
}

// fetch asks the server for the manifest.
func (o *installOptions) fetch(ctx context.Context) (*connect.Server, []byte, error) {
	o.InstallOptions.Namespace = o.Common.Namespace
	if o.caFile != "" {
		ca, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, nil, fmt.Errorf("read CA: %w", err)
		}
		o.CA = string(ca)
	}
	if o.keysFile != "" {
		keys, err := os.ReadFile(o.keysFile)
		if err != nil {
			return nil, nil, fmt.Errorf("read release keys: %w", err)
		}
		o.ReleaseKeys = string(keys)
	}
	s, err := o.MustServer()
	if err != nil {
		return nil, nil, err
	}
	// What we know the server by, the agent can know it by; a server knows only a certificate that it made.
	if o.CA == "" && o.CAConfigMap == "" {
		o.CA = s.Name.CA
	}
	text, err := s.Client.AgentManifest(ctx, o.id, o.InstallOptions, o.helm)
	return s, text, s.Explain(err)
}

func newManifestCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	o := installOptions{Common: common}
	cmd := &cobra.Command{
		Use: "manifest ID", Short: "Print what installs an agent: YAML for kubectl, or values for the Helm chart; never with a secret in it",
		Args: cobra.ExactArgs(1),
		Example: "  slipway agent manifest account.prod | kubectl apply -f -\n" +
			"  slipway agent manifest account.team --namespaced --namespaces shop-a,shop-b | kubectl apply -f -\n" +
			"  slipway agent manifest account.prod --helm --registry registry.example.org/mirror --proxy " +
			"http://proxy.example.org:3128 > values.yaml\n" +
			"  slipway agent manifest account.prod --client-cert-secret slipway-agent-client | kubectl apply -f -",
		ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = idOf(args[0])
			_, text, err := o.fetch(cmd.Context())
			if err != nil {
				return err
			}
			_, err = o.Out.Write(text)
			return err
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.helm, "helm", false, "print values for the Helm chart")
	return cmd
}

func newInstallCmd(common *connect.Common, n *noun.Noun[api.Agent, *api.Agent]) *cobra.Command {
	o := installOptions{Common: common}
	cmd := &cobra.Command{
		Use: "install ID", Short: "Install an agent into the cluster of the kubeconfig: its manifest, and a Secret with the registration token",
		Args: cobra.ExactArgs(1),
		Long: "Install an agent into the cluster of the kubeconfig, as `kubectl apply` of its manifest would, " +
			"and put the registration token into\n" +
			"a Secret. The token is that of --token-file or $" + tokenVariable + "; without one, a new one is made.",
		Example: "  slipway agent install account.prod --kubeconfig ~/.kube/prod\n  slipway agent install account.prod " +
			"--kubeconfig ~/.kube/prod --dry-run",
		ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = idOf(args[0])
			return installRun(cmd.Context(), o)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "`file` with the registration token, - for standard input")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only validate the manifest at the cluster's API server, and write nothing")
	return cmd
}

func installRun(ctx context.Context, o installOptions) error {
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	s, text, err := o.fetch(ctx)
	if err != nil {
		return err
	}
	objects, err := manifest.Read("-", bytes.NewReader(text))
	if err != nil {
		return err
	}
	rows := iostream.Rows{Header: []string{"KIND", "OBJECT"}}
	for _, object := range objects {
		u := &unstructured.Unstructured{Object: object}
		if err := apply(ctx, cluster, u, o.dryRun); err != nil {
			return err
		}
		rows.Add(u.GetKind(), name(u))
	}
	if o.ExistingSecret == "" && !o.dryRun {
		if err := o.putToken(ctx, s, cluster); err != nil {
			return err
		}
		rows.Add("Secret", o.Common.Namespace+"/"+tokenSecret)
	}
	if err := o.Table(&rows); err != nil {
		return err
	}
	if o.dryRun {
		o.Sayf("agent %s would be installed", o.id)
		return nil
	}
	o.Sayf("agent %s is installed; `slipway agent wait %s` waits until it has connected", o.id, o.id)
	return nil
}

func name(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return u.GetName()
	}
	return u.GetNamespace() + "/" + u.GetName()
}

// apply writes one object, as the manifest has it.
func apply(ctx context.Context, cluster *connect.Cluster, u *unstructured.Unstructured, dryRun bool) error {
	gvk := u.GroupVersionKind()
	mapping, err := cluster.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return connect.Explain(fmt.Errorf("find %s: %w", gvk.Kind, err))
	}
	options := metav1.ApplyOptions{FieldManager: connect.Manager, Force: true}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = cluster.Dynamic.Resource(mapping.Resource).Namespace(u.GetNamespace()).Apply(ctx, u.GetName(), u, options)
	if apierrors.IsNotFound(err) && u.GetNamespace() != "" {
		return fmt.Errorf("apply %s %s: %w: make the namespace first, since neither a dry run nor the manifest of an agent with a Role brings it",
			u.GetKind(), name(u), err)
	}
	if err != nil {
		return connect.Explain(fmt.Errorf("apply %s %s: %w", u.GetKind(), name(u), err))
	}
	return nil
}

// putToken puts the registration token where the agent looks for it.
func (o *installOptions) putToken(ctx context.Context, s *connect.Server, cluster *connect.Cluster) error {
	token := os.Getenv(tokenVariable)
	switch {
	case o.tokenFile != "":
		var err error
		if token, err = o.Secret("registration token", o.tokenFile); err != nil {
			return err
		}
	case token == "":
		made, err := s.Client.RegisterAgent(ctx, o.id)
		if err != nil {
			return s.Explain(err)
		}
		token = made.Token
	}
	return apply(ctx, cluster, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata":   map[string]any{"name": tokenSecret, "namespace": o.Common.Namespace},
		"stringData": map[string]any{tokenKey: token},
	}}, false)
}
