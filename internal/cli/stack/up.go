package stack

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

type upOptions struct {
	*connect.Common
	data    string
	port    int
	nodes   int
	detach  bool
	demo    bool
	tour    bool // what the demo shows of services, environments and releases
	alone   bool // without a server
	timeout time.Duration
}

func newUpCmd(common *connect.Common) *cobra.Command {
	o := upOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run everything on this machine: a cluster, a server, the agent and a demo repository",
		Long: "Start a development cluster (or use the one of --kubeconfig), a server, an agent that is registered there, and a Git server on\n" +
			"loopback with a repository of five applications; sync them, add a service that runs in two regions, and print what to try\n" +
			"next. Ctrl-C or `slipway down` stops it all.\n\n" +
			"The data directory then holds `kubeconfig`, and `env` for the shell: source DIR/env. It sets the context that is\n" +
			"signed in to the server: `" + contextName + "`, or `" + contextName +
			"-2` and so on for a second data directory. Without `env`, commands go on\n" +
			"talking to the current context, and to this one where there was none.",
		Example: "  slipway up\n  slipway up --detach --data .run && . " +
			".run/env\n  slipway up --kubeconfig ~/.kube/config\n  slipway up --no-server",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return upRun(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.data, "data", defaultDir(), "`directory` of everything that is kept")
	flags.IntVar(&o.port, "port", 0, "port of the Git server (default the one of the last time, or a free one)")
	flags.IntVar(&o.nodes, "nodes", 3, "number of simulated nodes of the development cluster")
	flags.BoolVarP(&o.detach, "detach", "d", false, "go on in the background; return when all is synced and healthy")
	flags.BoolVar(&o.demo, "demo", true, "serve and deploy the demo repository")
	flags.BoolVar(&o.tour, "tour", true,
		"also show services in two regions, releases, a held sync and notifications; needs the demo and the server")
	flags.BoolVar(&o.alone, "no-server", false, "start no server; the agent works from the cluster alone")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long starting may take")
	return cmd
}

func upRun(ctx context.Context, o upOptions) error {
	if o.port < 0 || o.port > 65535 {
		return iostream.Usagef("--port %d is not a port", o.port)
	}
	d, err := absolute(o.data)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if o.detach {
		return detach(ctx, d, o)
	}
	parent, err := openParent()
	if err != nil {
		return err
	}
	defer parent.close()
	s := &stack{dir: d, options: o, say: func(format string, args ...any) {
		o.Sayf(format, args...)
		parent.say(fmt.Sprintf(format, args...))
	}}
	return s.run(ctx, func() error {
		if parent.there() {
			parent.ready()
			return nil
		}
		return announce(o.Common, d, s.facts())
	})
}

// facts are what people and programs want to know about a running stack; also its form as JSON.
type facts struct {
	Data       string `json:"data"`
	Kubeconfig string `json:"kubeconfig"`
	Namespace  string `json:"namespace"`
	Webhook    string `json:"webhook"`
	DemoRepo   string `json:"demoRepo,omitempty"`
	// Server is its URL, User the first user and PasswordFile where that one's password is; empty without a server.
	Server       string `json:"server,omitempty"`
	User         string `json:"user,omitempty"`
	PasswordFile string `json:"passwordFile,omitempty"`
	Context      string `json:"context,omitempty"`
}

// announce says what to try next, or prints the facts where JSON or YAML is asked for.
func announce(common *connect.Common, d dir, f facts) error {
	if common.Output != iostream.Table {
		return common.Print(common.Output, f)
	}
	common.Sayf("\nSlipway is up. In another shell, or in this one once it is yours again:\n\n  . %s", quote(d.env()))
	if f.DemoRepo == "" {
		common.Sayf("  slipway app create --help\n\n%sStop it with     slipway down --data %s", f.serverText(), quote(string(d)))
		return nil
	}
	common.Sayf(`  slipway app list
  slipway app tree web

Change something in Git and watch it land:

  git clone "$SLIPWAY_DEMO_REPO" demo && cd demo
  echo '  farewell: See you' >> apps/web/configmap.yaml
  git commit -am "Say farewell" && git push
  slipway app wait web --synced --revision "$(git rev-parse HEAD)"
  slipway app history web

Kubeconfig       %s
Demo repository  %s
%sStop it with     slipway down --data %s`, f.Kubeconfig, f.DemoRepo, f.serverText(), quote(string(d)))
	return nil
}

// serverText says where the server is and the user there.
func (f *facts) serverText() string {
	if f.Server == "" {
		return ""
	}
	return fmt.Sprintf("Server           %s\nSigned in as     %s, context %s; the password is in %s\n", f.Server, f.User,
		f.Context, f.PasswordFile)
}
