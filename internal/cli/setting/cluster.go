package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func clusters() *kind {
	return &kind{
		setting: agentapi.SettingCluster, use: "cluster", called: "cluster", example: "edge", of: (*client.Client).Clusters, tests: true,
		header: clusterHeader(), row: clusterRow,
	}
}

func newClusterCmd(common *connect.Common) *cobra.Command {
	k := clusters()
	cmd := &cobra.Command{
		Use: "cluster", Aliases: []string{"clusters"}, Short: "Clusters that agents deploy to, with their credentials",
		Example: "  slipway cluster add edge --from-kubeconfig edge.kubeconfig\n  slipway cluster list",
	}
	cmd.AddCommand(k.list(common), k.get(common), newClusterWriteCmd(common, k, "add"), newClusterWriteCmd(common, k, "update"),
		newClusterWriteCmd(common, k, "test"), k.remove(common))
	return cmd
}

type clusterFlags struct {
	kubeconfig, context string
	server, project     string
	tokenFile, caFile   string
	certFile, keyFile   string
	insecure            bool
	own                 bool
	namespaces          []string
	clusterResources    bool
}

func (f *clusterFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "from-kubeconfig", "", "kubeconfig `file` to take address and credentials from")
	flags.StringVar(&f.context, "from-context", "", "`name` of the context in it (default the current one)")
	flags.StringVar(&f.server, "api-server", "", "`URL` of the API server, without a kubeconfig")
	flags.BoolVar(&f.own, "in-cluster", false, "the agent's own cluster, with the agent's own account unless credentials are given")
	flags.StringVar(&f.tokenFile, "bearer-token-file", "", "`file` with a token of a service account, - for standard input")
	flags.StringVar(&f.caFile, "ca-file", "", "PEM `file` with certificates that sign the API server's")
	flags.StringVar(&f.certFile, "tls-cert-file", "", "PEM `file` with a client certificate")
	flags.StringVar(&f.keyFile, "tls-key-file", "", "PEM `file` with its key")
	flags.BoolVar(&f.insecure, "insecure-skip-verify", false, "do not check the API server's certificate")
	flags.StringSliceVar(&f.namespaces, "namespaces", nil, "`names` of the only namespaces that may be used")
	flags.BoolVar(&f.clusterResources, "cluster-resources", false, "with --namespaces, also objects of the cluster")
	flags.StringVar(&f.project, "project", "", "`name` of its AppProject (default all)")
}

// clusterConfig is the field config of Argo CD's Secret of a cluster.
type clusterConfig struct {
	Username    string    `json:"username,omitempty"`
	Password    string    `json:"password,omitempty"`
	BearerToken string    `json:"bearerToken,omitempty"`
	TLS         tlsConfig `json:"tlsClientConfig,omitzero"`
}

type tlsConfig struct {
	Insecure   bool   `json:"insecure,omitempty"`
	ServerName string `json:"serverName,omitempty"`
	CAData     []byte `json:"caData,omitempty"`
	CertData   []byte `json:"certData,omitempty"`
	KeyData    []byte `json:"keyData,omitempty"`
}

// read gives address and credentials.
func (f *clusterFlags) read(streams iostream.Streams) (string, *clusterConfig, error) {
	var out clusterConfig
	server := f.server
	if f.own {
		if f.server != "" || f.kubeconfig != "" {
			return "", nil, iostream.Usagef("--in-cluster is an address already: leave out --api-server and --from-kubeconfig")
		}
		server = v1alpha1.InClusterServer
	}
	if f.kubeconfig != "" {
		config, err := f.fromKubeconfig()
		if err != nil {
			return "", nil, err
		}
		server = config.Host
		out = clusterConfig{Username: config.Username, Password: config.Password, BearerToken: config.BearerToken, TLS: tlsConfig{
			Insecure: config.Insecure, ServerName: config.ServerName, CAData: config.CAData, CertData: config.CertData, KeyData: config.KeyData,
		}}
	}
	for _, in := range []struct {
		what, file string
		to         *[]byte
	}{{"CA", f.caFile, &out.TLS.CAData}, {"client certificate", f.certFile, &out.TLS.CertData}, {"client key", f.keyFile, &out.TLS.KeyData}} {
		if in.file == "" {
			continue
		}
		text, err := streams.Secret(in.what, in.file)
		if err != nil {
			return "", nil, err
		}
		*in.to = []byte(text + "\n")
	}
	if f.tokenFile != "" {
		var err error
		if out.BearerToken, err = streams.Secret("token", f.tokenFile); err != nil {
			return "", nil, err
		}
	}
	if f.insecure {
		out.TLS.Insecure, out.TLS.CAData = true, nil
	}
	if out.Username == "" && out.BearerToken == "" && len(out.TLS.CertData) == 0 {
		if f.insecure || f.caFile != "" {
			return "", nil, iostream.Usagef("give the credentials again with --ca-file and --insecure-skip-verify: --bearer-token-file FILE, " +
				"--tls-cert-file and --tls-key-file, or --from-kubeconfig FILE")
		}
		return server, nil, nil
	}
	return server, &out, nil
}

// fromKubeconfig reads one context whole, with the files that it names.
func (f *clusterFlags) fromKubeconfig() (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.kubeconfig}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", f.kubeconfig, err)
	}
	if config.ExecProvider != nil || config.AuthProvider != nil {
		return nil, errors.New("this kubeconfig signs in by a program, which the agent does not have: make a service account in the cluster, " +
			"and give its token with --bearer-token-file and --api-server")
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("read certificates of kubeconfig %s: %w", f.kubeconfig, err)
	}
	return config, nil
}

func newClusterWriteCmd(common *connect.Common, k *kind, verb string) *cobra.Command {
	c := change{Common: common, onlyTry: verb == "test"}
	var f clusterFlags
	short := map[string]string{
		"add":    "Add a cluster to an agent, with credentials that only the agent can read",
		"update": "Change the fields that flags set, and keep the rest, credentials too",
		"test":   "Test a connection through an agent; nothing is changed",
	}
	cmd := &cobra.Command{
		Use: verb + " NAME", Short: short[verb], Args: cobra.ExactArgs(1),
		Example: fmt.Sprintf("  slipway cluster %s edge --from-kubeconfig edge.kubeconfig --agent account.prod\n"+
			"  slipway cluster %s edge --api-server https://edge.example.org:6443 --bearer-token-file token --ca-file ca.pem", verb, verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.fill(&c, args[0], verb == "update", cmd.Flags().Changed); err != nil {
				return err
			}
			if verb == "update" {
				return c.update(cmd.Context(), k, args[0])
			}
			c.name = args[0]
			return c.create(cmd.Context(), k, args[0])
		},
	}
	f.addFlags(cmd.Flags())
	c.addFlags(cmd.Flags(), k)
	if verb == "update" {
		cmd.ValidArgsFunction = k.complete(common)
	} else {
		cmd.Flags().BoolVar(&c.upsert, "upsert", false, "update it if it exists")
	}
	return cmd
}

// fill makes the change of what was given.
func (f *clusterFlags) fill(c *change, name string, update bool, given func(string) bool) error {
	server, config, err := f.read(c.Streams)
	if err != nil {
		return err
	}
	c.public, c.secret = map[string]string{}, map[string]string{}
	if !update {
		if server == "" {
			return iostream.Usagef("give the address of the cluster: --from-kubeconfig FILE, --api-server URL, or --in-cluster")
		}
		if config == nil && server != v1alpha1.InClusterServer {
			return iostream.Usagef("give credentials: --from-kubeconfig FILE, --bearer-token-file FILE, or --tls-cert-file and --tls-key-file")
		}
		c.public["name"] = name
	}
	if server != "" {
		c.public["server"] = server
	}
	if given("namespaces") {
		c.public["namespaces"] = strings.Join(f.namespaces, ",")
	}
	if given("cluster-resources") {
		c.public["clusterResources"] = fmt.Sprint(f.clusterResources)
	}
	if given("project") {
		c.public["project"] = f.project
	}
	if config == nil {
		return nil
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode credentials: %w", err)
	}
	c.secret["config"] = string(raw)
	return nil
}
