package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

// options are the flags.
type options struct {
	shape      corpus.Shape
	waves      corpus.Waves
	workloads  []string
	runs       int
	engine     string
	pids       []int
	webhook    string
	metrics    string
	agent      string
	agentArgs  []string
	server     string
	devcluster string
	kubeconfig string
	namespace  string
	commits    int
	drifted    int
	idle       time.Duration
	timeout    time.Duration
	allObjects bool
	out        string
	baseline   string
	record     bool
	targets    bool
	keep       bool
	profile    string
	profileFor time.Duration
}

// parse reads the flags. It prints the help itself when that is asked for.
func parse(arguments []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	everything := strings.Join(score.Names(), ",")
	workloads := everything
	var pids string
	flags.IntVar(&o.shape.Apps, "apps", 200, "number of applications")
	flags.IntVar(&o.shape.Objects, "objects", 10, "number of objects of each application")
	flags.IntVar(&o.shape.Replicas, "replicas", 0, "replicas of each Deployment")
	flags.IntVar(&o.shape.Namespaces, "namespaces", 10, "number of destination namespaces")
	flags.StringVar(&workloads, "workloads", workloads, "what to run, separated by commas; waves only runs when it is named")
	flags.IntVar(&o.waves.Objects, "wave-objects", 5000, "number of objects of the application of the workload waves, without hooks")
	flags.IntVar(&o.waves.Waves, "waves", 20, "number of its waves")
	flags.IntVar(&o.waves.Hooks, "hooks", 10, "number of its hooks: 2 before the waves, 2 after them, the rest within")
	flags.IntVar(&o.runs, "runs", 1, "how often to repeat everything from the start; figures are medians")
	flags.StringVar(&o.engine, "engine", engineSlipway, "slipway, or external for one that runs already")
	flags.StringVar(&pids, "pids", "", "with an external engine: all its root processes, separated by commas")
	flags.StringVar(&o.webhook, "webhook", "", "with an external engine: where to send GitHub push events; none if empty")
	flags.StringVar(&o.metrics, "metrics", "", "with an external engine: its metrics page, if it counts API requests as the agent does")
	flags.StringVar(&o.agent, "agent", "bin/slipway-agent", "the agent to measure")
	flags.StringVar(&o.server, "server",
		"bin/slipway-server", "the server that the agent is linked to in the workloads "+strings.Join(score.Linked(), " and "))
	flags.Func("agent-arg", "one more argument for the agent; may be repeated", func(value string) error {
		o.agentArgs = append(o.agentArgs, value)
		return nil
	})
	flags.StringVar(&o.devcluster, "devcluster", "bin/devcluster", "the development cluster to start")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "use this cluster and start none")
	flags.StringVar(&o.namespace, "namespace", "argocd", "namespace of the Applications")
	flags.IntVar(&o.commits, "commits", 20, "number of commits of the workload one")
	flags.IntVar(&o.drifted, "drifted", 50, "number of objects that the workload drift changes")
	flags.DurationVar(&o.idle, "idle", time.Minute, "length of the workload idle")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "longest time for a workload, and for each commit of one")
	flags.BoolVar(&o.allObjects, "all-objects", false, "the workload all changes every object, not one of each application")
	flags.StringVar(&o.out, "out", "", "write the result to this file as JSON")
	flags.StringVar(&o.baseline, "baseline", "", "compare with the result in this file")
	flags.BoolVar(&o.record, "record", false, "write the result to the baseline file instead")
	flags.BoolVar(&o.targets, "targets", false, "exit with 3 when a target is missed")
	flags.BoolVar(&o.keep, "keep", false, "leave logs, data and objects behind")
	flags.StringVar(&o.profile, "profile", "", "store profiles of the agent for each workload in this directory")
	flags.DurationVar(&o.profileFor, "profile-length", 30*time.Second, "length of a processor profile")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			help(stderr, flags)
		}
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	o.workloads = strings.Split(workloads, ",")
	if workloads == everything && o.engine == engineExternal {
		o.workloads = slices.DeleteFunc(o.workloads, func(name string) bool { return linked(name) || name == score.Clusters })
	}
	for field := range strings.SplitSeq(pids, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		pid, err := strconv.Atoi(field)
		if err != nil || pid < 1 {
			return o, fmt.Errorf("--pids: %q is not a process id", field)
		}
		o.pids = append(o.pids, pid)
	}
	return o, o.validate()
}

// validate finds what would only show after minutes otherwise.
func (o options) validate() error {
	for _, name := range o.workloads {
		if !slices.Contains(score.Known(), name) {
			return fmt.Errorf("--workloads: %q is not one of %s", name, strings.Join(score.Known(), ", "))
		}
	}
	external := o.engine == engineExternal
	switch {
	case o.engine != engineSlipway && !external:
		return fmt.Errorf("--engine: %q is neither %s nor %s", o.engine, engineSlipway, engineExternal)
	case external && len(o.pids) == 0:
		return errors.New("--engine external needs --pids")
	case external && o.kubeconfig == "":
		return errors.New("--engine external needs --kubeconfig, of the cluster that it works on")
	case external && o.links():
		return fmt.Errorf("--workloads: %s need an agent that the benchmark starts", strings.Join(score.Linked(), " and "))
	case external && slices.Contains(o.workloads, score.Clusters):
		return fmt.Errorf("--workloads: %s needs an agent that the benchmark starts", score.Clusters)
	case external && o.profile != "":
		return errors.New("--profile works only with an agent that the benchmark starts")
	case o.runs < 1 || o.runs > 100:
		return fmt.Errorf("--runs: %d is not between 1 and 100", o.runs)
	case o.commits < 1 || o.commits > 1000:
		return fmt.Errorf("--commits: %d is not between 1 and 1000", o.commits)
	case o.drifted < 1:
		return errors.New("--drifted: must be 1 or more")
	case o.record && o.baseline == "":
		return errors.New("--record needs --baseline, the file to write")
	case o.record && o.profile != "":
		return errors.New("--record does not go with --profile: profiling costs processor time")
	}
	if slices.Contains(o.workloads, score.Waves) {
		if err := o.waves.Validate(); err != nil {
			return err
		}
	}
	return o.shape.Validate()
}

func linked(workload string) bool { return slices.Contains(score.Linked(), workload) }

// links reports whether the agent is to be linked to a server.
func (o options) links() bool { return slices.ContainsFunc(o.workloads, linked) }

func help(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(out, `bench measures a GitOps engine on a Kubernetes control plane, beside a bare client.

Usage: bench [flags]

Examples:
  # everything, at the sizes that the targets are for
  bench --targets

  # a quick look at one thing
  bench --apps 20 --workloads cold,one --commits 5

  # five runs as the new baseline
  bench --runs 5 --baseline test/bench/baseline.json --record

  # where does the time go?
  bench --workloads cold,all --profile /tmp/profiles

  # what the link to a server costs
  bench --workloads one,idle,linked-one,linked-idle

  # an Argo CD that runs on this machine
  bench --engine external --kubeconfig ~/.kube/config \
      --pids $(pgrep -d, argocd) --webhook https://127.0.0.1:8080/api/webhook

Exit code: 0 done, 1 error, 2 wrong usage, 3 a target was missed (with --targets).

Flags:
`)
	flags.PrintDefaults()
}
