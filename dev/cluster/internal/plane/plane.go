// Package plane runs the components of a Kubernetes control plane inside this
// process: etcd, kube-apiserver, kube-controller-manager and kube-scheduler.
package plane

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/component-base/cli/flag"
)

// parse hands arguments to the flag sets of a component. Options go through
// flags, and not into struct fields, because the flags are the documented and
// stable way to configure a component.
func parse(component string, sets flag.NamedFlagSets, arguments []string) error {
	all := pflag.NewFlagSet(component, pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(arguments); err != nil {
		return fmt.Errorf("configure %s: %w", component, err)
	}
	return nil
}
