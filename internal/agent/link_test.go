package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestFlagsOfTheLinkFitTogether(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args       string
		standalone bool
		want       string // of the error; "" for none
	}{
		{"", true, ""},
		{"", false, "give --server URL, or --standalone"},
		{"--server https://s.example", true, "leave out either"},
		{"--server https://s.example", false, ""},
		{"--server s.example", false, "--server"},
		{"--server https://s.example --client-cert a", false, "belong together"},
		{"--server https://s.example --registration-token a --registration-token-file b", false, "one of them"},
		{"--server http://s.example", false, "without TLS"},
		{"--server http://s.example --insecure-skip-verify", false, ""},
	}
	for _, tt := range tests {
		var f linkFlags
		fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
		f.add(fs)
		if err := fs.Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		cfg, err := f.config(tt.standalone)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.args, err, tt.want)
		}
		if err == nil && (cfg == nil) != tt.standalone {
			t.Errorf("%s: got %+v", tt.args, cfg)
		}
	}
}

func TestATokenFileMayBeMissingAndMayBeRenewed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	read := tokenSource("", file)
	for _, want := range []string{"", "first", "second"} {
		if want != "" {
			if err := os.WriteFile(file, []byte(want+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := read(); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestInstancesCanBeLeftOut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		out  bool
	}{{nil, false}, {[]string{"--instances=false"}, true}} {
		var flags linkFlags
		set := pflag.NewFlagSet("agent", pflag.ContinueOnError)
		flags.add(set)
		if err := set.Parse(append(test.args, "--server", "https://slipway.example.org")); err != nil {
			t.Fatal(err)
		}
		config, err := flags.config(false)
		if err != nil || config.NoInstances != test.out {
			t.Errorf("%v: %+v, %v", test.args, config, err)
		}
	}
}
