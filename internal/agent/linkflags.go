package agent

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/agent/link"
)

// tokenVariable is the variable of the environment that may hold the registration token.
const tokenVariable = "SLIPWAY_REGISTRATION_TOKEN"

// LinkConfig says which server an agent belongs to, and how it is reached.
type LinkConfig struct {
	Server    *url.URL
	Transport link.Transport
	// Token returns the one-time token that registers the agent; "" for none.
	Token func() (string, error)
	// NoInstances turns off watching and reporting the pods of Applications.
	NoInstances bool
}

// linkFlags are the flags of the link.
type linkFlags struct {
	server, token, tokenFile string
	ca, cert, key            string
	insecure, instances      bool
}

func (f *linkFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.server, "server", "", "`URL` of the server that this agent belongs to; HTTPS_PROXY and NO_PROXY count")
	fs.StringVar(&f.token, "registration-token",
		"", "one-time `token` that registers the agent, needed once; others on this machine can read it here, so a file or $"+tokenVariable+
			" is better")
	fs.StringVar(&f.tokenFile, "registration-token-file", "", "`file` with that token; it may be missing once the agent is registered")
	fs.StringVar(&f.ca, "server-ca", "",
		"`file` with certificates (PEM) that signed the server's, or that of a proxy that looks inside; they are trusted beside the system's")
	fs.StringVar(&f.cert, "client-cert", "", "`file` with the certificate (PEM) that the agent shows to the server or a proxy")
	fs.StringVar(&f.key, "client-key", "", "`file` with its key (PEM)")
	fs.BoolVar(&f.instances, "instances", true, "report the pods of applications to the server; needs list and watch on pods and their owners")
	fs.BoolVar(&f.insecure, "insecure-skip-verify", false,
		"do not verify the server's certificate; for tests only, and reported in log, health and metrics")
}

// config reads the flags; nil for an agent without a server.
func (f *linkFlags) config(standalone bool) (*LinkConfig, error) {
	switch {
	case standalone && f.server != "":
		return nil, errors.New("--standalone is an agent without a server: leave out either it or --server")
	case standalone:
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	case f.server == "":
		return nil, errors.New("the agent needs a server: give --server URL, or --standalone to work without one")
	case (f.cert == "") != (f.key == ""):
		return nil, errors.New("--client-cert and --client-key belong together: give both")
	case f.token != "" && f.tokenFile != "":
		return nil, errors.New("--registration-token and --registration-token-file exclude each other: give one of them")
	}
	server, err := link.ParseServer(f.server, f.insecure)
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	return &LinkConfig{
		Server:    server,
		Transport: link.Transport{CAFile: f.ca, CertFile: f.cert, KeyFile: f.key, Insecure: f.insecure},
		Token:     tokenSource(f.token, f.tokenFile), NoInstances: !f.instances,
	}, nil
}

// maxToken is the longest token, in bytes.
const maxToken = 4 << 10

// tokenSource returns where the token comes from. A file is read each time: it may be renewed.
func tokenSource(token, file string) func() (string, error) {
	return func() (string, error) {
		switch {
		case token != "":
			return token, nil
		case file == "":
			return strings.TrimSpace(os.Getenv(tokenVariable)), nil
		}
		in, err := os.Open(file)
		if errors.Is(err, os.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("read --registration-token-file: %w", err)
		}
		raw, err := io.ReadAll(io.LimitReader(in, maxToken))
		_ = in.Close() // it was only read
		if err != nil {
			return "", fmt.Errorf("read --registration-token-file: %w", err)
		}
		return strings.TrimSpace(string(raw)), nil
	}
}
