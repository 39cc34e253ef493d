package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/trace"
)

type flags struct {
	cfg       Config
	oidc      string
	proxies   []string
	outward   outward.Flags
	logLevel  string
	logFormat string
}

// Command is the command line of the server.
func Command(version string) *cobra.Command {
	f := flags{cfg: Config{Version: version}}
	cmd := &cobra.Command{
		Use:   "slipway-server",
		Short: "Where people and programs meet the agents",
		Long: `slipway-server is the control plane: the API, sign-in, access, audit, and the place that agents dial.
It needs only a directory: the database is SQLite in that directory, unless --database names another one.

Every flag can be given in the environment too: --public-url as SLIPWAY_PUBLIC_URL.`,
		Example: `  # on this machine
  slipway-server --data ~/.slipway-server

  # for others
  slipway-server --listen :8443 --public-url https://slipway.example.org:8443 --tls-cert tls.crt --tls-key tls.key --data /var/lib/slipway`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true, Version: version,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd.Flags()) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.ErrOrStderr()) },
	}
	all := cmd.PersistentFlags()
	all.StringVar(&f.cfg.Data, "data", "", "`directory` for the database of SQLite and the keys of the server")
	all.StringVar(&f.cfg.Database, "database", "",
		"`path` or postgres:// URL of the database (default a file in --data); the URL is better given in the environment")
	all.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	all.StringVar(&f.logFormat, "log-format", "json", "json or text")
	fs := cmd.Flags()
	fs.StringVar(&f.cfg.Listen, "listen", "127.0.0.1:8080", "`address` to listen on")
	fs.StringVar(&f.cfg.MetricsListen, "metrics-listen", "",
		"separate `address` for /metrics, without sign-in; by default /metrics requires a token with setting_view")
	fs.StringVar(&f.cfg.PublicURL, "public-url", "", "`URL` where people and agents reach the server (default made from --listen)")
	fs.StringVar(&f.cfg.TLSCert, "tls-cert", "", "`file` with the certificate; read again when it changes")
	fs.StringVar(&f.cfg.TLSKey, "tls-key", "", "`file` with its key")
	fs.BoolVar(&f.cfg.SelfSigned, "self-signed", false,
		"make a certificate, and keep it in --data; its server.crt is what others have to trust")
	fs.StringVar(&f.cfg.ClientCA, "client-ca", "", "`file` with certificates: agents must show one that they signed")
	fs.BoolVar(&f.cfg.InsecureHTTP, "insecure-http", false, "allow plain HTTP on other addresses than loopback; for a proxy that does TLS")
	fs.StringVar(&f.oidc, "oidc-config", "", "JSON `file` that describes identity providers")
	fs.StringVar(&f.cfg.ClusterListen, "cluster-listen", "", "`address` for other servers on the same PostgreSQL, which find it there")
	fs.StringVar(&f.cfg.ClusterAdvertise, "cluster-advertise", "", "`address` that other servers use (default made from --cluster-listen)")
	fs.StringSliceVar(&f.cfg.Routes, "nats-route", nil,
		"`URL` of another server that the database does not know, nats://HOST:PORT; several times for several")
	fs.StringVar(&f.cfg.ClusterSecretFile, "cluster-secret-file", "",
		"`file` with what servers show each other (default made from their common key)")
	fs.StringSliceVar(&f.cfg.NatsURLs, "nats-url", nil,
		"`URL` of a NATS server at which servers meet instead of reaching each other, tls://HOST:7422; "+
			"a password is better given in the environment")
	fs.StringVar(&f.cfg.NatsCredentials, "nats-creds", "", "`file` with the credentials for --nats-url")
	fs.StringVar(&f.cfg.NatsCA, "nats-ca", "", "`file` with certificates that sign that of --nats-url")
	fs.StringSliceVar(&f.proxies, "trusted-proxies", nil, "`addresses` or networks of proxies whose X-Forwarded-For header is trusted")
	fs.StringSliceVar(&f.cfg.AllowedOrigins, "allowed-origins", nil,
		"`origins` whose pages may call the API with a token (CORS); none by default")
	fs.StringVar(&f.cfg.AgentImage, "agent-image", "", "`image` of the agent in install manifests, without a tag")
	fs.StringVar(&f.cfg.ReleaseKeys, "release-keys", "",
		"`file` with public keys (PEM) that releases of the agent are signed with; install manifests bring them to the agents")
	f.hostedFlags(fs)
	fs.BoolVar(&f.cfg.Demo, "demo", false, "let the pages offer a tour of the demo that `slipway up` makes")
	fs.StringVar(&f.cfg.NotifySecrets, "notify-secrets", "",
		"`directory` with the secrets of notification channels, a file <scope>.<secret> for each; read at each sending")
	fs.BoolVar(&f.cfg.NotifyAllowPrivate, "notify-allow-private", false,
		"let notifications go to addresses of private networks; this machine and the link need --outbound-allow")
	f.outward.Register(fs)
	fs.BoolVar(&f.cfg.TrustTraces, "trust-traces", false,
		"let callers decide by their traceparent which traces are kept; without it the share of OTEL_TRACES_SAMPLER_ARG holds for them too")
	fs.Float64Var(&f.cfg.Limits.PerSecond, "rate-limit", 50, "requests a second of one user or service account")
	fs.IntVar(&f.cfg.Limits.Burst, "rate-burst", 200, "burst of requests of one user or service account")
	fs.IntVar(&f.cfg.Connections.Connections, "max-connections", 16384,
		"connections that may be open; the oldest that waits for its peer makes room for a new one")
	fs.IntVar(&f.cfg.Connections.Waiting, "max-waiting-connections", 4096, "connections that may be open without a request that is answered")
	fs.IntVar(&f.cfg.Connections.PerAddress, "max-waiting-per-address", 512,
		"the same for one address, or one /64 of IPv6; --trusted-proxies are exempt")
	cmd.AddCommand(f.backupCommand(), f.restoreCommand(), f.migrateCommand(), f.passwordCommand(), courierCommand())
	return cmd
}

// hostedFlags are about agents that run beside the server.
func (f *flags) hostedFlags(fs *pflag.FlagSet) {
	h := &f.cfg.Hosted
	fs.StringVar(&h.Dir, "hosted-dir", "",
		"`directory` with a NAME.kubeconfig for each cluster whose agents run beside the server; NAME.yaml lists the scopes that may use it")
	fs.StringVar(&h.Program, "hosted-agent", "", "`path` of slipway-agent (default beside this program)")
	fs.StringVar(&h.Data, "hosted-data", "", "`directory` for the data of hosted agents (default a directory in --data)")
	fs.StringVar(&h.Memory, "hosted-memory", hostedMemory, "memory that each hosted agent is to stay below (GOMEMLIMIT)")
	fs.StringVar(&h.Users, "hosted-user", "",
		"`FIRST-LAST`, numbers of users that hosted agents run as, one for each; for a server that runs as root")
	fs.StringVar(&h.Server, "hosted-server", "", "`URL` that hosted agents dial (default --public-url)")
	fs.StringSliceVar(&h.Environment, "hosted-env", nil, "`names` of variables of the environment that hosted agents get; only PATH otherwise")
}

// fromEnvironment sets what was not given on the command line.
func fromEnvironment(fs *pflag.FlagSet) error {
	var errs []error
	fs.VisitAll(func(flag *pflag.Flag) {
		name := "SLIPWAY_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		if value, ok := os.LookupEnv(name); ok && !flag.Changed {
			if err := fs.Set(flag.Name, value); err != nil {
				errs = append(errs, fmt.Errorf("%s of the environment: --%s does not take that value", name, flag.Name))
			}
		}
	})
	return errors.Join(errs...)
}

// config reads what the flags point to.
func (f *flags) config(say io.Writer) (Config, error) {
	cfg := f.cfg
	var err error
	if cfg.Log, err = f.logger(say); err != nil {
		return cfg, err
	}
	cfg.Say = say
	if cfg.Outbound, err = f.outward.Policy(); err != nil {
		return cfg, err
	}
	cfg.Hosted.Outbound = f.outward.Environment()
	cfg.AdminPassword = os.Getenv("SLIPWAY_ADMIN_PASSWORD")
	for _, text := range f.proxies {
		prefix, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return cfg, fmt.Errorf("--trusted-proxies: %q is neither an address nor a network", text)
		}
		cfg.TrustedProxies = append(cfg.TrustedProxies, prefix.Masked())
	}
	if f.oidc != "" {
		oidc, err := ReadOIDC(f.oidc)
		if err != nil {
			return cfg, err
		}
		cfg.Providers, cfg.NoPasswords = oidc.Providers, oidc.NoPasswords
		if cfg.GroupsLast, err = oidc.lasts(); err != nil {
			return cfg, fmt.Errorf("read identity providers of %s: %w", f.oidc, err)
		}
	}
	if cfg.Data != "" {
		if cfg.Data, err = filepath.Abs(cfg.Data); err != nil {
			return cfg, fmt.Errorf("find --data: %w", err)
		}
	}
	return cfg, nil
}

func (f *flags) logger(to io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level %q: use debug, info, warn or error", f.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "json":
		return slog.New(slog.NewJSONHandler(to, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(to, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q: use json or text", f.logFormat)
}

func (f *flags) run(ctx context.Context, say io.Writer) error {
	cfg, err := f.config(say)
	if err != nil {
		return err
	}
	if cfg.Tracer, err = trace.New(ctx, "slipway-server", cfg.Version, cfg.Log); err != nil {
		return err
	}
	defer cfg.Tracer.Close(context.WithoutCancel(ctx))
	s, err := New(ctx, cfg)
	if err != nil {
		return err
	}
	return s.Run(ctx)
}
