// Package connect connects a command to a cluster or to a server: the flags that choose it, the client, and the Applications
// there.
package connect

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// Options choose the cluster and the namespace of the Applications.
type Options struct {
	Kubeconfig string // empty: KUBECONFIG, then ~/.kube/config, then the cluster that the process runs in
	Context    string // empty: the current one of the kubeconfig
	Namespace  string // where Application resources live
	ServerName string // a server's address or the name of a context; empty: the current context, if there is one
	Agent      string // of a server: only what is this agent's

	flags *pflag.FlagSet
}

// ChosenNamespace is the namespace that the user named, by a flag or the environment; "" for none. At a server, what is
// made goes into that of the agent then.
func (o *Options) ChosenNamespace() string {
	if os.Getenv("SLIPWAY_NAMESPACE") == "" && (o.flags == nil || !o.flags.Changed("namespace")) {
		return ""
	}
	return o.Namespace
}

// AddFlags registers the flags that every command on a cluster has.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.flags = flags
	namespace := os.Getenv("SLIPWAY_NAMESPACE")
	if namespace == "" {
		namespace = "argocd"
	}
	flags.StringVar(&o.ServerName, "server", "",
		"`URL` of a server, or the name of a context that `slipway login` made ($SLIPWAY_SERVER; default the current context)")
	flags.StringVar(&o.Agent, "agent", "", "at a server: only this `agent`, and where to create things")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "",
		"talk to a cluster without a server: kubeconfig `file` (default $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&o.Context, "context", "", "`name` of the kubeconfig's context to use")
	flags.StringVarP(&o.Namespace, "namespace", "n", namespace,
		"`namespace` of the Application resources ($SLIPWAY_NAMESPACE); at a server, new objects go into the namespace of their agent by default")
}

// Cluster is a connection to one API server.
type Cluster struct {
	Config    *rest.Config
	Dynamic   dynamic.Interface
	Discovery discovery.CachedDiscoveryInterface
	Mapper    meta.RESTMapper // asks discovery when first used
	Apps      *Applications
}

// Connect reads the kubeconfig and makes the clients. It does not talk to the cluster yet.
func (o Options) Connect() (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: o.Context}).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) || errors.Is(err, os.ErrNotExist):
		return nil, iostream.NotLoggedInf("no cluster to talk to: %w; give --kubeconfig or set KUBECONFIG "+
			"(`slipway up` writes one)", err)
	case err != nil:
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return connect(config, o.Namespace)
}

func connect(config *rest.Config, namespace string) (*Cluster, error) {
	config.UserAgent = "slipway"
	// One command makes a few dozen requests; the server has its own fair queueing.
	config.QPS = -1
	// The warnings of the API server are for authors of manifests, not for readers of a table.
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make cluster client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make discovery client: %w", err)
	}
	cached := memory.NewMemCacheClient(disco)
	return &Cluster{
		Config:    config,
		Dynamic:   client,
		Discovery: cached,
		Mapper:    restmapper.NewDeferredDiscoveryRESTMapper(cached),
		Apps: &Applications{
			client: client.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(namespace), namespace: namespace,
		},
	}, nil
}

// Explain adds what to do next to an error of the API server, and its exit code where it has one.
func Explain(err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsUnauthorized(err):
		return iostream.NotLoggedInf("the cluster does not accept these credentials: %w; check --kubeconfig and --context", err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("not allowed: %w; ask for the permission or use another --context", err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("%w; the cluster does not know this kind: give its group too, as in apps/Deployment, "+
			"or install its CustomResourceDefinition first", err)
	}
	return err
}

// Common is what every command on a cluster shares: the streams, the output format and the cluster it talks to.
type Common struct {
	Options
	iostream.Streams
	Output iostream.Format
	// Version of this program.
	Version string
}
