package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// succession is the ConfigMap that says which of an agent and its standby is the active one.
const succession = "slipway-agent-succession"

type promoteOptions struct {
	*connect.Common
	confirm, unfenced, force, dryRun bool
	now                              func() time.Time
}

func newPromoteCmd(common *connect.Common) *cobra.Command {
	o := promoteOptions{Common: common, now: time.Now}
	cmd := &cobra.Command{
		Use: "promote", Short: "Make the standby agent of the kubeconfig's cluster take over; it needs no server", Args: cobra.NoArgs,
		Long: "Make the standby agent of the kubeconfig's cluster take over from the agent whose name it shares (--succession). In each\n" +
			"cluster that both deploy to, the standby takes the Lease of that name, and waits until the agent before cannot write any more.\n" +
			"From then on that one writes nothing, also when it comes back. Nothing is deleted until you have looked and confirmed: --confirm\n" +
			"first checks that every Application was compared since the takeover.",
		Example: "  slipway agent promote --kubeconfig ~/.kube/standby\n  slipway agent promote --kubeconfig ~/.kube/standby --confirm",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return promoteRun(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.confirm, "confirm", false, "allow deletions again, after every Application was compared since the takeover")
	flags.BoolVar(&o.force, "force", false, "with --confirm: do not check the Applications")
	flags.BoolVar(&o.unfenced, "unfenced", false,
		"also write to clusters in which the agent before held no Lease; only when you have made sure that it does not run")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only show what would be written")
	return cmd
}

func promoteRun(ctx context.Context, o *promoteOptions) error {
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	maps := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(o.Namespace)
	have, err := maps.Get(ctx, succession, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		have = nil
	case err != nil:
		return connect.Explain(fmt.Errorf("read ConfigMap %s/%s: %w", o.Namespace, succession, err))
	}
	if o.confirm {
		return o.confirmTakeover(ctx, cluster, maps, have)
	}
	if have == nil {
		return fmt.Errorf("no agent with --succession has started in namespace %s of this cluster yet: start the standby first "+
			"(--succession NAME --standby), or name its namespace by --namespace", o.Namespace)
	}
	data, _, _ := unstructured.NestedStringMap(have.Object, "data")
	if data == nil {
		data = map[string]string{"site": strings.ToLower(rand.Text())}
	}
	if err := ofThisCluster(ctx, cluster, o.Namespace, data["cluster"]); err != nil {
		return err
	}
	before, _ := strconv.ParseInt(data["generation"], 10, 64) // what is no number is older than now
	seen, _ := strconv.ParseInt(data["seen"], 10, 64)         // that of the agent that took over from this one
	generation := max(o.now().UnixMilli(), before+1, seen+1)
	data["generation"], data["state"], data["deletions"] = strconv.FormatInt(generation, 10), "active", "held"
	delete(data, "unfenced")
	delete(data, "observed")
	if o.unfenced {
		data["unfenced"] = "true"
	}
	if err := o.write(ctx, maps, have, data); err != nil {
		return err
	}
	if o.dryRun {
		o.Sayf("the agent in namespace %s would take over, as generation %d", o.Namespace, generation)
		return nil
	}
	o.Sayf("The agent in namespace %s takes over, as generation %d. It deletes nothing yet. Look at its Applications, then run:\n"+
		"slipway agent promote --namespace %s --confirm", o.Namespace, generation, o.Namespace)
	return nil
}

// ofThisCluster refuses a ConfigMap that was copied from another cluster: the agent there goes by it.
func ofThisCluster(ctx context.Context, cluster *connect.Cluster, namespace, of string) error {
	if of == "" {
		return nil
	}
	namespaces := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	system, err := namespaces.Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil || string(system.GetUID()) == of {
		return nil //nolint:nilerr // who may not read it is not held up: the agent looks itself
	}
	return fmt.Errorf("ConfigMap %s/%s was copied from another cluster: start the standby here first (--succession NAME --standby), "+
		"which makes it its own", namespace, succession)
}

// write changes the ConfigMap, if it still is what was read.
func (o *promoteOptions) write(ctx context.Context, maps dynamic.ResourceInterface, have *unstructured.Unstructured,
	data map[string]string,
) error {
	fresh := have.DeepCopy()
	if err := unstructured.SetNestedStringMap(fresh.Object, data, "data"); err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", o.Namespace, succession, err)
	}
	options := metav1.UpdateOptions{FieldManager: connect.Manager}
	if o.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	if _, err := maps.Update(ctx, fresh, options); err != nil {
		return connect.Explain(fmt.Errorf("write ConfigMap %s/%s: %w", o.Namespace, succession, err))
	}
	return nil
}

// confirmTakeover allows deletions, once every Application was compared since the takeover.
func (o *promoteOptions) confirmTakeover(ctx context.Context, cluster *connect.Cluster, maps dynamic.ResourceInterface,
	have *unstructured.Unstructured,
) error {
	var data map[string]string
	if have != nil {
		data, _, _ = unstructured.NestedStringMap(have.Object, "data")
	}
	if data["state"] != "active" || data["deletions"] != "held" {
		return fmt.Errorf("there is no takeover to confirm in namespace %s", o.Namespace)
	}
	if !o.force && data["observed"] != data["generation"] {
		open, err := unobserved(ctx, cluster, o.Namespace)
		if err != nil {
			return err
		}
		what := "see its log"
		if len(open) > 0 {
			what = strings.Join(open[:min(len(open), shownOpen)], "; ") + "; see why with `slipway app why NAME`"
		}
		return iostream.NotYetf("the agent has not compared all of its Applications since the takeover: %s. "+
			"Confirm with --force where that cannot be", what)
	}
	delete(data, "deletions")
	delete(data, "unfenced")
	if err := o.write(ctx, maps, have, data); err != nil {
		return err
	}
	o.Sayf("the takeover in namespace %s is confirmed: deletions are allowed again", o.Namespace)
	return nil
}

// shownOpen is how many Applications an error names.
const shownOpen = 10

// unobserved names the Applications whose state is not known.
func unobserved(ctx context.Context, cluster *connect.Cluster, namespace string) ([]string, error) {
	in := cluster.Dynamic.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(namespace)
	list, err := in.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("list Applications in %s: %w", namespace, err))
	}
	var open []string
	for i := range list.Items {
		status, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "sync", "status")
		if status == "" || status == "Unknown" {
			open = append(open, list.Items[i].GetName()+" is not compared")
		}
	}
	return open, nil
}
