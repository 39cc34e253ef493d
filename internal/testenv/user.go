package testenv

import (
	"os"
	"slices"
	"strings"
)

// UserEnv returns the environment of a user who has never used the command line: nothing in it says which server, cluster or
// token the shell that runs the tests is about. config is the file of contexts; more is added at the end.
func UserEnv(config string, more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "KUBECONFIG" || strings.HasPrefix(name, "SLIPWAY_") && name != "SLIPWAY_DEVCLUSTER"
	})
	return append(append(env, "SLIPWAY_CONFIG="+config), more...)
}
