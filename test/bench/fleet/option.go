package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// options are the flags.
type options struct {
	agents, applications, organizations int
	big                                 int
	seed                                uint64
	churn                               float64
	length                              time.Duration
	pages, dashboards, commands         float64 // a second
	server, listen, database            string
	postgres                            bool
	timeout                             time.Duration
	hold, keep, targets, json, record   bool
	baseline                            string
}

// parse reads the flags. It prints the help itself when that is asked for.
func parse(arguments []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench-fleet", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&o.agents, "agents", 200, "number of agents")
	flags.IntVar(&o.applications, "applications", 250, "number of applications of each agent")
	flags.IntVar(&o.big, "big", 0, "nodes in the tree of one more application of each agent, named big; 0 for none")
	flags.IntVar(&o.organizations, "organizations", 4, "number of organizations; each has five projects")
	flags.Uint64Var(&o.seed, "seed", 1, "what the applications and all random choices follow from")
	flags.Float64Var(&o.churn, "churn", 100, "how many applications change in a second")
	flags.DurationVar(&o.length, "length", 30*time.Second, "how long they change while people read")
	flags.Float64Var(&o.pages, "pages", 10, "how many pages of lists are read in a second")
	flags.Float64Var(&o.dashboards, "dashboards", 2, "how many dashboards are read in a second")
	flags.Float64Var(&o.commands, "commands", 5, "how many commands are given in a second")
	flags.StringVar(&o.server, "server", "bin/slipway-server", "the server to measure")
	flags.StringVar(&o.listen, "listen", "", "address of the server; one that is free if empty")
	flags.StringVar(&o.database, "database", "", "postgres:// URL of an empty database; SQLite if empty")
	flags.BoolVar(&o.postgres, "postgres", false, "start a PostgreSQL and use that")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "longest time for a phase")
	flags.BoolVar(&o.hold, "hold", false, "measure nothing: connect, let applications change, and go on until a signal comes")
	flags.BoolVar(&o.keep, "keep", false, "leave the server's data and log behind")
	flags.BoolVar(&o.targets, "targets", false, "exit with 3 when a target is missed")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	flags.StringVar(&o.baseline, "baseline", "", "compare with the result in this file")
	flags.BoolVar(&o.record, "record", false, "write the result to the baseline file instead")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			fmt.Fprint(stderr, help)
			flags.PrintDefaults()
		}
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, o.validate()
}

// validate finds what would only show after minutes otherwise.
func (o options) validate() error {
	switch {
	case o.agents < 1 || o.agents > 1000:
		return fmt.Errorf("--agents: %d is not between 1 and 1000", o.agents)
	case o.applications < 1 || o.applications > 10000:
		return fmt.Errorf("--applications: %d is not between 1 and 10000", o.applications)
	case o.big < 0 || o.big > 6000: // its status must fit into what an agent reports
		return fmt.Errorf("--big: %d is not between 0 and 6000", o.big)
	case o.organizations < 1 || o.organizations > 100:
		return fmt.Errorf("--organizations: %d is not between 1 and 100", o.organizations)
	case o.length < time.Second:
		return errors.New("--length: must be 1s or more")
	case o.churn <= 0 || o.pages <= 0 || o.dashboards <= 0 || o.commands <= 0:
		return errors.New("--churn, --pages, --dashboards and --commands must be more than 0")
	case o.postgres && o.database != "":
		return errors.New("--postgres starts a database, --database names one: give one of them")
	case o.record && o.baseline == "":
		return errors.New("--record needs --baseline, the file to write")
	}
	return nil
}

const help = `bench-fleet measures the control plane with a simulated fleet.

Usage: bench-fleet [flags]

Examples:
  # 200 agents with 250 applications each, judged by the targets
  bench-fleet --targets
  # the same on PostgreSQL
  bench-fleet --postgres --targets
  # a fleet to look at, until Ctrl-C
  bench-fleet --hold --churn 20
  # an application with 3,000 objects to look at
  bench-fleet --hold --agents 2 --applications 20 --big 3000

Exit code: 0 done, 1 error, 2 wrong usage, 3 a target was missed (with --targets).

Flags:
`
