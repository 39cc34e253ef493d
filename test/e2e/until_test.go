package e2e

import (
	"os/exec"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

const (
	// untilLimit is how long a server may take to know what happens in a cluster, on a machine that has much else to do.
	untilLimit = 2 * time.Minute
	// untilPause is between two looks at what nobody tells of.
	untilPause = 200 * time.Millisecond
)

// cmdUntil runs a command until its output matches: until REGEXP COMMAND ARG...
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "until REGEXP COMMAND ARG...")
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	limit := time.After(untilLimit)
	pause := time.NewTicker(untilPause)
	defer pause.Stop()
	for {
		command := exec.Command(args[1], args[2:]...)
		command.Dir = ts.Getenv("WORK")
		for _, name := range []string{"PATH", "HOME", "KUBECONFIG", "SLIPWAY_SERVER", "SLIPWAY_NAMESPACE", "XDG_CONFIG_HOME"} {
			command.Env = append(command.Env, name+"="+ts.Getenv(name))
		}
		said, err := command.CombinedOutput()
		if err == nil && want.Match(said) {
			return
		}
		select {
		case <-limit:
			ts.Fatalf("%v says after %s, not %s:\n%s\n%v", args[1:], untilLimit, args[0], said, err)
		case <-pause.C:
		}
	}
}
