package setting

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

func repositories() *kind {
	return &kind{
		setting: agentapi.SettingRepository, use: "repo", called: "repository", example: "shop", of: (*client.Client).Repositories, tests: true,
		header: []string{"URL", "TYPE", "PROJECT", "CONNECTION"},
		row: func(s agentapi.Setting) []string {
			return []string{s.Fields["url"], s.Fields["type"], s.Fields["project"], connectionText(s)}
		},
	}
}

func templates() *kind {
	return &kind{
		setting: agentapi.SettingRepoCreds, use: "repo template", called: "credential template", example: "example-org",
		of:     (*client.Client).CredentialTemplates,
		header: []string{"URL", "TYPE"},
		row:    func(s agentapi.Setting) []string { return []string{s.Fields["url"], s.Fields["type"]} },
	}
}

// newRepoCmd is `slipway repo` and, below it, the templates.
func newRepoCmd(common *connect.Common) *cobra.Command {
	cmd := repoCmd(common, repositories(), "repo", "Repositories that agents read, with their credentials")
	cmd.Aliases = []string{"repos", "repository"}
	cmd.AddCommand(newRefsCmd(common), newPathsCmd(common))
	cmd.AddCommand(repoCmd(common, templates(), "template", "Credentials for all repositories whose address has the same prefix"))
	return cmd
}

func repoCmd(common *connect.Common, k *kind, use, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Example: fmt.Sprintf("  slipway %s create https://git.example.org/shop.git --username bot --password-file token.txt\n  slipway %s list",
			k.use, k.use),
	}
	cmd.AddCommand(k.list(common), k.get(common), newRepoWriteCmd(common, k, "create"), newRepoWriteCmd(common, k, "update"), k.remove(common))
	if k.tests {
		cmd.AddCommand(newRepoWriteCmd(common, k, "test"))
	}
	return cmd
}

// repoFlags are what a repository or a template has.
type repoFlags struct {
	kind, project, username       string
	lfs, insecure, oci, plainHTTP bool
	open                          map[string]*string // flag: value of the field in openFlags
	files                         map[string]*string
}

func (f *repoFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.kind, "type", "git", "`git|helm|oci`")
	flags.StringVar(&f.project, "project", "", "`name` of its AppProject (default all)")
	flags.BoolVar(&f.lfs, "enable-lfs", false, "fetch files of Git LFS, over https")
	flags.BoolVar(&f.oci, "enable-oci", false, "it is an OCI registry of Helm charts, whose address has no scheme")
	flags.BoolVar(&f.plainHTTP, "insecure-oci-force-http", false, "reach the OCI registry without TLS")
	flags.BoolVar(&f.insecure, "insecure-skip-verify", false, "do not check its certificate or host key")
	flags.StringVar(&f.username, "username", "", "`name` to sign in with; it is sealed with the password")
	f.open = map[string]*string{}
	for flag, to := range openFlags() {
		f.open[flag] = flags.String(flag, "", to.help)
	}
	f.files = map[string]*string{
		"password":            flags.String("password-file", "", "`file` with the password or token, - for standard input"),
		"bearerToken":         flags.String("bearer-token-file", "", "`file` with a bearer token, - for standard input"),
		"sshPrivateKey":       flags.String("ssh-key-file", "", "`file` with a private key for SSH, - for standard input"),
		"tlsClientCertData":   flags.String("tls-cert-file", "", "PEM `file` with a client certificate"),
		".dockerconfigjson":   flags.String("docker-config-file", "", "`file` with a configuration of Docker that has credentials of registries"),
		"tlsClientCertKey":    flags.String("tls-key-file", "", "PEM `file` with its key"),
		"githubAppPrivateKey": flags.String("github-app-key-file", "", "`file` with the private key of a GitHub App"),
		"gcpServiceAccountKey": flags.String("gcp-service-account-key-file", "",
			"`file` with the key of a service account of Google Cloud, in JSON"),
		"azureServicePrincipalClientSecret": flags.String("azure-client-secret-file", "", "`file` with the secret of an Azure service principal"),
	}
}

// openFlag is a flag that is written into a field as it is.
type openFlag struct{ field, help string }

// openFlags are those flags by name.
func openFlags() map[string]openFlag {
	return map[string]openFlag{
		"proxy":                          {"proxy", "`URL` of a proxy to reach it through: http, https, socks5 or socks5h"},
		"no-proxy":                       {"noProxy", "`hosts` that are reached without the proxy, with commas between them"},
		"depth":                          {"depth", "`number` of commits of each reference that are fetched (default all)"},
		"github-app-id":                  {"githubAppID", "`id` of a GitHub App"},
		"github-app-installation-id":     {"githubAppInstallationID", "`id` of its installation (default: the owner's)"},
		"github-app-enterprise-base-url": {"githubAppEnterpriseBaseUrl", "`URL` of the API of a GitHub Enterprise"},
		"repository-name":                {"name", "`name` that charts have for it in their dependencies, as @name"},
		"workload-identity": {
			"workloadIdentity", "sign in to the OCI registry with the identity that the `cloud` gives to the agent's pod: aws, gcp or azure",
		},
		"pass-credentials": {
			"passCredentials", "`true` to send the credential also where the index of a Helm repository leads outside of its address",
		},
		"azure-workload-identity": {
			"useAzureWorkloadIdentity", "`true` to sign in to Azure DevOps or Azure's registries with the workload identity of the agent",
		},
		"azure-tenant-id": {"azureServicePrincipalTenantId", "`id` of the tenant of an Azure service principal"},
		"azure-client-id": {"azureServicePrincipalClientId", "`id` of the service principal"},
		"azure-active-directory-endpoint": {
			"azureActiveDirectoryEndpoint", "`URL` of Microsoft Entra in another cloud of Microsoft",
		},
	}
}

// read gives the fields that were given.
func (f *repoFlags) read(c *change, url string, given func(string) bool) error {
	public := map[string]string{}
	if url != "" {
		public["url"], public["type"] = url, f.kind
	}
	for flag, field := range map[string]struct {
		name, value string
	}{
		"type": {"type", f.kind}, "project": {"project", f.project},
		"enable-lfs":              {"enableLfs", strconv.FormatBool(f.lfs)},
		"insecure-skip-verify":    {"insecure", strconv.FormatBool(f.insecure)},
		"enable-oci":              {"enableOCI", strconv.FormatBool(f.oci)},
		"insecure-oci-force-http": {"insecureOCIForceHttp", strconv.FormatBool(f.plainHTTP)},
	} {
		if given(flag) {
			public[field.name] = field.value
		}
	}
	for flag, to := range openFlags() {
		if given(flag) {
			public[to.field] = *f.open[flag]
		}
	}
	secret := map[string]string{}
	for field, file := range f.files {
		if *file != "" {
			secret[field] = *file
		}
	}
	if err := gather(c, public, secret); err != nil {
		return err
	}
	if f.username != "" {
		c.secret["username"] = f.username
	}
	return nil
}

func newRepoWriteCmd(common *connect.Common, k *kind, verb string) *cobra.Command {
	c := change{Common: common, onlyTry: verb == "test"}
	var f repoFlags
	short := map[string]string{
		"create": "Add one to an agent, with credentials that only the agent can read",
		"update": "Change the fields that flags set, and keep the rest, secrets too",
		"test":   "Test a connection through an agent; nothing is changed",
	}
	cmd := &cobra.Command{
		Use: verb + " URL", Short: short[verb], Args: cobra.ExactArgs(1),
		Example: fmt.Sprintf("  slipway %s %s https://git.example.org/shop.git --username bot --password-file token.txt\n"+
			"  slipway %s %s git@git.example.org:shop.git --ssh-key-file id_ed25519 --agent account.prod", k.use, verb, k.use, verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			url := args[0]
			if verb == "update" {
				url = ""
			}
			if err := f.read(&c, url, cmd.Flags().Changed); err != nil {
				return err
			}
			if verb == "update" {
				return c.update(cmd.Context(), k, args[0])
			}
			return c.create(cmd.Context(), k, args[0])
		},
	}
	f.addFlags(cmd.Flags())
	c.addFlags(cmd.Flags(), k)
	if k.tests {
		cmd.Flags().StringVar(&c.revision, "revision", "", "`branch`, tag or commit that a test looks for (default: the default branch)")
	}
	switch verb {
	case "update":
		cmd.Use, cmd.ValidArgsFunction = "update NAME", k.complete(common)
		cmd.Example = fmt.Sprintf("  slipway %s update %s --password-file token.txt", k.use, k.example)
	default:
		cmd.Flags().StringVar(&c.name, "name", "", "its `name` in the agent's cluster (default: derived from the address)")
		cmd.Flags().BoolVar(&c.upsert, "upsert", false, "update it if it exists")
	}
	return cmd
}
