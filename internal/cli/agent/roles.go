package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/project"
)

// deployRole is the Role of the agent in a namespace that it deploys to, and agentAccount its service account, as in its manifest.
const deployRole, agentAccount = "slipway-agent-deploy", "slipway-agent"

type rolesOptions struct {
	*connect.Common
	file, account string
	namespaces    []string
	terminal      bool
}

func newRolesCmd(common *connect.Common) *cobra.Command {
	o := rolesOptions{Common: common}
	cmd := &cobra.Command{
		Use: "roles", Short: "Print the Roles that an agent with rights in namespaces only needs, from AppProjects", Args: cobra.NoArgs,
		Long: "Print a Role for each namespace of the cluster that AppProjects permit as a destination, with the rights that the agent uses\n" +
			"there: it deploys the kinds that the projects permit, and looks at what their objects own. A cluster Secret limits the agent to\n" +
			"these namespaces. The kinds are those of the cluster of the kubeconfig; its AppProjects are used where no file is given.",
		Example: "  slipway agent roles -f project.yaml -n team | kubectl apply -f -\n" +
			"  slipway agent roles -n team --namespaces shop-a,shop-b --terminal",
		RunE: func(cmd *cobra.Command, _ []string) error { return rolesRun(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", "`file` with AppProjects, - for standard input (default those of the namespace)")
	flags.StringSliceVar(&o.namespaces, "namespaces", nil, "`names` of further namespaces, for projects whose destinations are patterns")
	flags.StringVar(&o.account, "service-account", agentAccount, "`name` of the agent's service account")
	flags.BoolVar(&o.terminal, "terminal", false, "also terminals in containers")
	return cmd
}

func rolesRun(ctx context.Context, o rolesOptions) error {
	projects, err := o.given()
	if err != nil {
		return err
	}
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	if o.file == "" {
		if projects, err = o.kept(ctx, cluster); err != nil {
			return err
		}
	}
	rules := make([]*project.Rules, 0, len(projects))
	for _, p := range projects {
		r, err := project.New(p)
		if err != nil {
			return err
		}
		rules = append(rules, r)
	}
	namespaces, patterns := settled(projects, rules, o.namespaces)
	if patterns && len(o.namespaces) == 0 {
		o.Sayf("some destinations are patterns, which Roles cannot have: name their namespaces with --namespaces")
	}
	if len(namespaces) == 0 {
		return errors.New("the projects permit no namespace of the agent's own cluster by name: add it to spec.destinations, " +
			"or name it with --namespaces")
	}
	_, lists, err := cluster.Discovery.ServerGroupsAndResources()
	if err != nil {
		return connect.Explain(fmt.Errorf("read kinds of the cluster: %w", err))
	}
	kinds := servedKinds(lists)
	var out strings.Builder
	for _, namespace := range namespaces {
		role, binding := o.role(namespace, rights(rules, namespace, kinds, o.terminal))
		if err := write(&out, role, binding); err != nil {
			return err
		}
	}
	if err := write(&out, o.ownCluster(namespaces)); err != nil {
		return err
	}
	_, err = o.Out.Write([]byte(out.String()))
	return err
}

// kept are the AppProjects of the namespace.
func (o *rolesOptions) kept(ctx context.Context, cluster *connect.Cluster) ([]*v1alpha1.AppProject, error) {
	in := cluster.Dynamic.Resource(v1alpha1.Resource(v1alpha1.ResourceAppProjects)).Namespace(o.Namespace)
	list, err := in.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("list AppProjects: %w", err))
	}
	out := make([]*v1alpha1.AppProject, len(list.Items))
	for i := range list.Items {
		out[i] = &v1alpha1.AppProject{}
		if err := manifest.Into(list.Items[i].Object, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// given are the AppProjects of the file, none where there is no file.
func (o *rolesOptions) given() ([]*v1alpha1.AppProject, error) {
	if o.file == "" {
		return nil, nil
	}
	objects, err := manifest.Read(o.file, o.In)
	if err != nil {
		return nil, err
	}
	var out []*v1alpha1.AppProject
	for _, obj := range objects {
		if obj["kind"] != v1alpha1.KindAppProject {
			continue
		}
		p := &v1alpha1.AppProject{}
		if err := manifest.Into(obj, p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, iostream.Usagef("%s has no AppProject", o.file)
	}
	return out, nil
}

// role is the Role of a namespace, and its binding to the agent.
func (o *rolesOptions) role(namespace string, rules []rbacv1.PolicyRule) (*rbacv1.Role, *rbacv1.RoleBinding) {
	meta := metav1.ObjectMeta{Name: deployRole, Namespace: namespace}
	version := rbacv1.SchemeGroupVersion.String()
	role := &rbacv1.Role{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "Role"}, ObjectMeta: meta, Rules: rules}
	return role, &rbacv1.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "RoleBinding"}, ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: deployRole},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: o.account, Namespace: o.Namespace}},
	}
}

// ownCluster makes the agent's own cluster a destination, in these namespaces. It holds no credentials: the agent's account is used.
func (o *rolesOptions) ownCluster(namespaces []string) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: v1alpha1.InClusterName, Namespace: o.Namespace,
			Labels: map[string]string{v1alpha1.LabelSecretType: v1alpha1.SecretTypeCluster},
		},
		StringData: map[string]string{
			"name": v1alpha1.InClusterName, "server": v1alpha1.InClusterServer, "namespaces": strings.Join(namespaces, ","),
		},
	}
}

// write adds objects as documents.
func write(out *strings.Builder, objects ...any) error {
	for _, obj := range objects {
		plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return fmt.Errorf("encode manifest: %w", err)
		}
		if meta, ok := plain["metadata"].(map[string]any); ok {
			delete(meta, "creationTimestamp")
		}
		text, err := yaml.Marshal(plain)
		if err != nil {
			return fmt.Errorf("encode manifest: %w", err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return nil
}
