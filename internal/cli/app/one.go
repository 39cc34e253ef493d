package app

import (
	"context"
	"errors"
	"os/user"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// find reads the Application that a command is about, from a cluster or a server.
func find(ctx context.Context, common *connect.Common, name string) (connect.Site, *v1alpha1.Application, error) {
	site, err := common.Site()
	if err != nil {
		return nil, nil, err
	}
	app, err := site.Get(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return site, &app.Application, nil
}

// connectToOwn connects to a cluster for commands that look at the objects there: they have to be in the same cluster.
func connectToOwn(ctx context.Context, common *connect.Common, name string) (*connect.Cluster, *v1alpha1.Application, error) {
	cluster, err := common.Connect()
	if err != nil {
		return nil, nil, err
	}
	app, err := cluster.Apps.Get(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return cluster, &app.Application, inCluster(&app.Application)
}

// errand is what a command asks of one Application: the request, and what it makes of the Application at a cluster.
type errand struct {
	request any
	change  connect.Make
}

// ask asks for what an errand says. A request that makes no sense is an error of the caller of the command.
func (e errand) ask(ctx context.Context, site connect.Site, name string) (api.OperationAnswer, error) {
	answer, err := site.Ask(ctx, name, e.request, e.change)
	return answer, usage(err)
}

func usage(err error) error {
	var fault *operate.Error
	if errors.As(err, &fault) && fault.Fault == operate.Invalid {
		return iostream.Usagef("%w", err)
	}
	return err
}

// busy reports whether an operation is under way, and so another one cannot be asked for yet.
func busy(err error) bool {
	var fault *operate.Error
	if errors.As(err, &fault) {
		return fault.Fault == operate.Busy
	}
	return err != nil && api.CodeOf(err) == api.CodeConflict && strings.Contains(err.Error(), "an operation under way")
}

// who is the user who runs this program. A server uses the signed-in user instead.
func who() operate.Who { return operate.Who{Name: username(), ID: uuid.NewString()} }

// username names the user, for later readers; nothing is permitted by it.
func username() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "slipway"
}

// sayWarnings says what an answer warns of.
func sayWarnings(common *connect.Common, warnings []string) {
	for _, w := range warnings {
		common.Sayf("warning: %s", w)
	}
}

// someObjects are the options of commands that sync chosen objects of one Application.
type someObjects struct {
	*connect.Common
	name    string
	objects []string
	reason  string
	dryRun  bool
	async   bool
	timeout time.Duration
}

// addFlags registers what is the same for all of them; dryRun is the help of --dry-run.
func (o *someObjects) addFlags(flags *pflag.FlagSet, dryRun string) {
	flags.BoolVar(&o.dryRun, "dry-run", false, dryRun)
	flags.StringVar(&o.reason, "reason", "", "reason, for later readers")
	flags.BoolVar(&o.async, "async", false, "do not wait for the end of the operation")
	addTimeout(flags, &o.timeout)
}

// carryOut asks for an operation and follows it.
func (o *someObjects) carryOut(ctx context.Context, site connect.Site, e errand) error {
	s := syncOptions{Common: o.Common, names: []string{o.name}, async: o.async, timeout: o.timeout}
	return s.carryOut(ctx, site, map[string]errand{o.name: e})
}

// parseObjects reads names of objects.
func parseObjects(texts []string) ([]api.ObjectName, error) {
	var out []api.ObjectName
	for _, text := range texts {
		o, err := operate.ParseObject(text)
		if err != nil {
			return nil, usage(err)
		}
		out = append(out, o)
	}
	return out, nil
}
