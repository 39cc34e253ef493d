package agent

import (
	"testing"

	"github.com/spf13/pflag"
)

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
