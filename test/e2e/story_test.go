package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/slipway-gitops/slipway/internal/testenv"
	"github.com/slipway-gitops/slipway/internal/testenv/sigstore"
)

// story is what the commands of one script share.
type story struct {
	t         testing.TB
	cluster   *cluster
	agent     *agentProcess
	namespace string // for the objects of the story
	app       string // name of its Application, unique in the cluster
	servers   map[string]*testenv.GitServer
	repos     map[string]*repository
	charts    *testenv.Charts
	registry  *testenv.OCIServer
	sigstore  *sigstore.Sigstore
	kept      map[string]string // reference -> object as remembered
	neighbour *neighbour
	plane     *serverProcess
	argo      *argoCD
	recorder  *recorder
	signers   map[string]signer
	followed  *followed
	sites     []*site
}

type storyKey struct{}

func of(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

// TestStories runs every *.txtar file of this directory. One agent serves them all, except those that start their own.
func TestStories(t *testing.T) {
	t.Parallel()
	shared := newCluster(t)
	tenant := testenv.Namespace(t)
	agent := newAgent(t, "--application-namespaces", tenant)
	agent.start()
	testscript.Run(t, testscript.Params{
		Dir: ".",
		Setup: func(env *testscript.Env) error {
			s := &story{
				t: env.T().(testing.TB), cluster: shared, agent: agent, servers: map[string]*testenv.GitServer{},
				repos: map[string]*repository{}, kept: map[string]string{},
				signers: map[string]signer{},
			}
			s.namespace = testenv.Namespace(s.t)
			_, unique, _ := strings.Cut(s.namespace, "-")
			_, name, _ := strings.Cut(s.t.Name(), "/")
			s.app = name + "-" + unique
			env.Values[storyKey{}] = s
			for name, value := range map[string]string{
				"NS": s.namespace, "APP": s.app, "TENANT": tenant, "KUBECONFIG": testenv.DelayedKubeconfig(s.t), "UNIQUE": unique,
			} {
				env.Setenv(name, value)
			}
			variable, allowed, _ := strings.Cut(testenv.Outbound, "=") // for commands that fetch sources themselves
			env.Setenv(variable, allowed)
			env.Setenv("APPS", agent.namespace)
			env.Setenv("SLIPWAY_NAMESPACE", agent.namespace)
			env.Defer(func() {
				s.cluster.removeApplications(s)
				if s.t.Failed() {
					s.t.Logf("what the agent said about %s:%s", s.app, s.agent.logged.tail(s.app, shownLines))
				}
			})
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"agent":       cmdAgent,
			"apply":       cmdApply,
			"argocd":      cmdArgoCD,
			"artifact":    cmdArtifact,
			"bigfile":     cmdBigFile,
			"branch":      cmdBranch,
			"chart":       cmdChart,
			"charts":      cmdCharts,
			"cluster":     cmdCluster,
			"commit":      cmdCommit,
			"cosign":      cmdCosign,
			"condition":   cmdCondition,
			"database":    cmdDatabase,
			"fill":        cmdFill,
			"gitrepo":     cmdGitRepo,
			"gitserver":   cmdGitServer,
			"hosts":       cmdHosts,
			"inorder":     cmdInOrder,
			"join":        cmdJoin,
			"kdelete":     cmdDelete,
			"kget":        cmdGet,
			"kpatch":      cmdPatch,
			"manyobjects": cmdManyObjects,
			"neighbour":   cmdNeighbour,
			"push":        cmdPush,
			"registry":    cmdRegistry,
			"remember":    cmdRemember,
			"secret":      cmdSecret,
			"server":      cmdServer,
			"sign":        cmdSign,
			"sigstore":    cmdSigstore,
			"follow":      cmdFollow,
			"soon":        cmdSoon,
			"shadow":      cmdShadow,
			"tag":         cmdTag,
			"unchanged":   cmdUnchanged,
			"until":       cmdUntil,
			"waitfor":     cmdWaitFor,

			"wrote":        cmdWrote,
			"wrotenothing": cmdWroteNothing,
		},
	})
}

// cmdAgent starts, stops and kills an agent of the story's own: agent start [FLAG...], agent stop, agent kill. agent new
// makes one more, in a namespace of its own, that is the story's from then on; those of before go on. ! agent start runs one
// that is to end by itself and never be ready, and prints what it said.
func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, len(args) > 0 && (!neg || args[0] == "start"), "agent new | start [FLAG...] | stop | kill, or ! agent start [FLAG...]")
	switch args[0] {
	case "new":
		s.agent = newAgent(s.t, args[1:]...)
		ts.Setenv("APPS", s.agent.namespace)
		ts.Setenv("SLIPWAY_NAMESPACE", s.agent.namespace)
	case "start":
		if s.agent.t != s.t {
			s.agent = newAgent(s.t, args[1:]...)
			ts.Setenv("APPS", s.agent.namespace)
			ts.Setenv("SLIPWAY_NAMESPACE", s.agent.namespace)
		}
		if len(args) > 1 {
			s.agent.flags = args[1:]
		}
		if neg {
			fmt.Fprintln(ts.Stdout(), s.agent.refuse())
			return
		}
		s.agent.start()
	case "stop", "kill":
		need(ts, s.agent.t == s.t, "agent start, before agent "+args[0])
		if args[0] == "stop" {
			s.agent.stop()
		} else {
			s.agent.kill()
		}
	default:
		ts.Fatalf("agent knows new, start, stop and kill, not %s", args[0])
	}
}

// need ends the story with how to use a command unless ok.
func need(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// newCluster makes the clients that all stories share.
func newCluster(t testing.TB) *cluster {
	t.Helper()
	config := testenv.Cluster(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	asker, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	cached := memory.NewMemCacheClient(asker)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	return &cluster{client: client, mapper: mapper}
}

// cmdFill replaces ${NAME} in files of the story, for programs that read them: fill FILE...
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "fill FILE...")
	for _, name := range args {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(expand(ts, ts.ReadFile(name))), 0o600))
	}
}

// expand replaces ${NAME} by the variables of the story, and leaves every other use of $ alone.
func expand(ts *testscript.TestScript, text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			ts.Fatalf("${ without }")
		}
		fmt.Fprint(&out, ts.Getenv(name))
		text = after
	}
}
