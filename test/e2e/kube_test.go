package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/jsonpath"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

const (
	// requestLimit bounds one request of a story.
	requestLimit = time.Minute
	// kindLimit is how long a kind may take to be known after its definition was made.
	kindLimit = time.Minute
	// kindProbe is the time between two questions for it.
	kindProbe = 50 * time.Millisecond
)

// cluster is the API server of the stories.
type cluster struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

// reference is an object as scripts name it.
type reference struct {
	in   dynamic.ResourceInterface
	name string
	text string
}

// kind finds what a script calls configmap, deployments.apps or app.
func (c *cluster) kind(text string) (*meta.RESTMapping, error) {
	switch text {
	case "app":
		text = "applications." + v1alpha1.Group
	case "crd":
		text = "customresourcedefinitions.apiextensions.k8s.io"
	}
	resource := schema.ParseGroupResource(text).WithVersion("")
	var gvk schema.GroupVersionKind
	err := c.known(func() (err error) {
		gvk, err = c.mapper.KindFor(resource)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
}

// known asks for a kind until it is known: discovery follows a definition a little later, and tells nobody.
func (c *cluster) known(ask func() error) error {
	var err error
	_ = wait.PollUntilContextTimeout(context.Background(), kindProbe, kindLimit, true, func(context.Context) (bool, error) {
		if err = ask(); meta.IsNoMatchError(err) {
			c.mapper.Reset()
			return false, nil
		}
		return true, nil
	})
	return err
}

// refer reads "[-n NAMESPACE] KIND/NAME" off args and returns the rest. Applications are looked for in the agent's
// namespace, everything else in the story's; "app" alone is the story's Application.
func refer(ts *testscript.TestScript, args []string) (reference, []string) {
	s := of(ts)
	namespace := ""
	if len(args) > 1 && args[0] == "-n" {
		namespace, args = args[1], args[2:]
	}
	need(ts, len(args) > 0, "... [-n NAMESPACE] KIND/NAME ...")
	text := args[0]
	kind, name, named := strings.Cut(text, "/")
	if !named && kind == "app" {
		name = s.app
	}
	mapping, err := s.cluster.kind(kind)
	ts.Check(err)
	in := dynamic.ResourceInterface(s.cluster.client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		switch {
		case namespace != "":
		case kind == "app":
			namespace = s.agent.namespace
		default:
			namespace = s.namespace
		}
		in = s.cluster.client.Resource(mapping.Resource).Namespace(namespace)
	}
	return reference{in: in, name: name, text: namespace + "/" + text}, args[1:]
}

func (s *story) requestContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.t.Context(), requestLimit)
}

// cmdGet prints a part of an object: kget [-n NS] KIND/NAME [PATH]. With ! the object must not exist.
func cmdGet(ts *testscript.TestScript, neg bool, args []string) {
	ref, rest := refer(ts, args)
	need(ts, len(rest) <= 1, "[!] kget [-n NS] KIND/NAME [PATH]")
	ctx, cancel := of(ts).requestContext()
	defer cancel()
	obj, err := ref.in.Get(ctx, ref.name, metav1.GetOptions{})
	if neg {
		if !apierrors.IsNotFound(err) {
			ts.Fatalf("%s exists, or cannot be read: %v", ref.text, err)
		}
		return
	}
	ts.Check(err)
	text := asText(obj)
	if len(rest) == 1 {
		text, err = find(obj, rest[0])
		ts.Check(err)
	}
	fmt.Fprintln(ts.Stdout(), text)
}

// asText prints an object without what nobody reads.
func asText(obj *unstructured.Unstructured) string {
	shown := obj.DeepCopy()
	shown.SetManagedFields(nil)
	raw, err := json.MarshalIndent(shown.Object, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// find prints what a JSONPath without braces finds, "" where there is nothing.
func find(obj *unstructured.Unstructured, path string) (string, error) {
	j := jsonpath.New("path").AllowMissingKeys(true)
	if err := j.Parse("{" + path + "}"); err != nil {
		return "", fmt.Errorf("read path %s: %w", path, err)
	}
	var out bytes.Buffer
	err := j.Execute(&out, obj.Object)
	if err != nil && strings.HasPrefix(err.Error(), "<nil> is not array") { // a list that is filtered, and not there yet
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("follow path %s: %w", path, err)
	}
	return out.String(), nil
}

// cmdPatch merges JSON into an object: kpatch [-n NS] KIND/NAME JSON [MANAGER]. With ! it must be refused.
func cmdPatch(ts *testscript.TestScript, neg bool, args []string) {
	ref, rest := refer(ts, args)
	need(ts, len(rest) == 1 || len(rest) == 2, "[!] kpatch [-n NS] KIND/NAME JSON [MANAGER]")
	manager := "kubectl-edit"
	if len(rest) == 2 {
		manager = rest[1]
	}
	ctx, cancel := of(ts).requestContext()
	defer cancel()
	_, err := ref.in.Patch(ctx, ref.name, types.MergePatchType, []byte(rest[0]), metav1.PatchOptions{FieldManager: manager})
	if neg {
		if err == nil {
			ts.Fatalf("patch of %s was accepted", ref.text)
		}
		fmt.Fprintln(ts.Stderr(), err)
		return
	}
	ts.Check(err)
}

// cmdDelete deletes an object without waiting: kdelete [-n NS] KIND/NAME.
func cmdDelete(ts *testscript.TestScript, neg bool, args []string) {
	ref, rest := refer(ts, args)
	need(ts, !neg && len(rest) == 0, "kdelete [-n NS] KIND/NAME")
	ctx, cancel := of(ts).requestContext()
	defer cancel()
	ts.Check(ref.in.Delete(ctx, ref.name, metav1.DeleteOptions{}))
}

// cmdApply creates the objects of a file, or replaces what the file says of them, as kubectl or another field manager:
// apply [-client] FILE [MANAGER]. With -client it creates them as client-side apply does. ${NAME} stands for a variable of
// the story. Where no namespace is given, Applications go to the agent's and everything else to the story's.
func cmdApply(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	manager, write := "kubectl", s.applyAs
	if len(args) > 0 && args[0] == "-client" {
		manager, write, args = "kubectl-client-side-apply", s.createAs, args[1:]
	}
	need(ts, !neg && (len(args) == 1 || len(args) == 2), "apply [-client] FILE [MANAGER]")
	if len(args) == 2 {
		manager = args[1]
	}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(expand(ts, ts.ReadFile(args[0]))), 4096)
	for {
		obj := &unstructured.Unstructured{}
		if err := decoder.Decode(&obj.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			ts.Fatalf("read %s: %v", args[0], err)
		}
		if len(obj.Object) > 0 {
			ts.Check(write(obj, manager))
		}
	}
}

func (s *story) apply(obj *unstructured.Unstructured) error { return s.applyAs(obj, "kubectl") }

func (s *story) applyAs(obj *unstructured.Unstructured, manager string) error {
	in, err := s.placed(obj)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(obj.Object)
	if err != nil {
		return err
	}
	ctx, cancel := s.requestContext()
	defer cancel()
	force := true
	_, err = in.Patch(ctx, obj.GetName(), types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: manager, Force: &force})
	return err
}

// createAs creates an object as client-side apply does, with a copy of what was applied.
func (s *story) createAs(obj *unstructured.Unstructured, manager string) error {
	in, err := s.placed(obj)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(obj.Object)
	if err != nil {
		return err
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(raw) + "\n"
	obj.SetAnnotations(annotations)
	ctx, cancel := s.requestContext()
	defer cancel()
	_, err = in.Create(ctx, obj, metav1.CreateOptions{FieldManager: manager})
	return err
}

// placed finds where an object belongs, and gives it its namespace.
func (s *story) placed(obj *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := obj.GroupVersionKind()
	var mapping *meta.RESTMapping
	err := s.cluster.known(func() (err error) {
		mapping, err = s.cluster.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		return err
	})
	if err != nil {
		return nil, err
	}
	in := dynamic.ResourceInterface(s.cluster.client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		switch {
		case obj.GetNamespace() != "":
		case gvk.Group == v1alpha1.Group:
			obj.SetNamespace(s.agent.namespace)
		default:
			obj.SetNamespace(s.namespace)
		}
		in = s.cluster.client.Resource(mapping.Resource).Namespace(obj.GetNamespace())
	}
	return in, nil
}

// cmdSecret makes a labelled Secret of the agent's settings: secret TYPE NAME KEY=VALUE..., where @FILE as the value
// stands for what a file holds. With ! it is deleted: ! secret NAME.
func cmdSecret(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	secrets := s.cluster.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(s.agent.namespace)
	ctx, cancel := s.requestContext()
	defer cancel()
	if neg {
		need(ts, len(args) == 1, "! secret NAME")
		ts.Check(secrets.Delete(ctx, s.app+"-"+args[0], metav1.DeleteOptions{}))
		return
	}
	need(ts, len(args) > 2, "secret TYPE NAME KEY=VALUE...")
	data := map[string]any{}
	for _, arg := range args[2:] {
		key, value, _ := strings.Cut(arg, "=")
		if file, ok := strings.CutPrefix(value, "@"); ok {
			value = ts.ReadFile(file)
		}
		data[key] = value
	}
	ts.Check(s.apply(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "stringData": data,
		"metadata": map[string]any{
			"name": s.app + "-" + args[1], "namespace": s.agent.namespace,
			"labels": map[string]any{v1alpha1.LabelSecretType: args[0]},
		},
	}}))
}

// cmdHosts makes the SSH hosts of a file the ones that the story's agent trusts: hosts FILE.
func cmdHosts(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) == 1, "hosts FILE")
	ts.Check(s.apply(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"ssh_known_hosts": ts.ReadFile(args[0])},
		"metadata": map[string]any{"name": "argocd-ssh-known-hosts-cm", "namespace": s.agent.namespace},
	}}))
}

// cmdRemember notes what objects are when their controllers are done with them, for unchanged: remember [-n NS] KIND/NAME...
func cmdRemember(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg, "remember [-n NS] KIND/NAME...")
	for rest := args; len(rest) > 0; {
		var ref reference
		ref, rest = refer(ts, rest)
		ts.Check(of(ts).await(ref, waitLimit, "at rest", atRest))
	}
	eachObject(ts, args, func(ref reference, now string) { of(ts).kept[ref.text] = now })
}

// cmdUnchanged checks that objects are what they were, to the last byte: unchanged [-content] [[-n NS] KIND/NAME...]. With
// -content the owners of their fields do not count.
func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	content := len(args) > 0 && args[0] == "-content"
	if content {
		args = args[1:]
	}
	need(ts, !neg && len(args) > 0, "unchanged [-content] [-n NS] KIND/NAME...")
	eachObject(ts, args, func(ref reference, now string) {
		before, ok := of(ts).kept[ref.text]
		need(ts, ok, "remember, before unchanged "+ref.text)
		if content {
			before, now = withoutOwners(ts, before), withoutOwners(ts, now)
		}
		if diff := cmp.Diff(before, now); diff != "" {
			ts.Fatalf("%s changed (-before +now):\n%s", ref.text, diff)
		}
	})
}

// withoutOwners is an object without what a change of its owners changes.
func withoutOwners(ts *testscript.TestScript, text string) string {
	var obj map[string]any
	ts.Check(json.Unmarshal([]byte(text), &obj))
	unstructured.RemoveNestedField(obj, "metadata", "managedFields")
	unstructured.RemoveNestedField(obj, "metadata", "resourceVersion")
	raw, err := json.MarshalIndent(obj, "", " ")
	ts.Check(err)
	return string(raw)
}

func eachObject(ts *testscript.TestScript, args []string, do func(reference, string)) {
	ctx, cancel := of(ts).requestContext()
	defer cancel()
	for len(args) > 0 {
		var ref reference
		ref, args = refer(ts, args)
		obj, err := ref.in.Get(ctx, ref.name, metav1.GetOptions{})
		ts.Check(err)
		raw, err := json.MarshalIndent(obj.Object, "", " ")
		ts.Check(err)
		do(ref, string(raw))
	}
}

// cmdInOrder checks that objects were written one after the other, the last time: inorder [-n NS] KIND/NAME...
func cmdInOrder(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "inorder [-n NS] KIND/NAME...")
	before, last := "", uint64(0)
	eachObject(ts, args, func(ref reference, now string) {
		var obj struct {
			Metadata struct{ ResourceVersion string }
		}
		ts.Check(json.Unmarshal([]byte(now), &obj))
		version, err := strconv.ParseUint(obj.Metadata.ResourceVersion, 10, 64)
		ts.Check(err)
		if version <= last {
			ts.Fatalf("%s was written after %s", before, ref.text)
		}
		before, last = ref.text, version
	})
}

// removeApplications takes away what the story left in namespaces that it shares with others.
func (c *cluster) removeApplications(s *story) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), requestLimit)
	defer cancel()
	mapping, err := c.kind("app")
	if err != nil {
		s.t.Logf("find Applications: %v", err)
		return
	}
	apps := c.client.Resource(mapping.Resource)
	list, err := apps.List(ctx, metav1.ListOptions{})
	if err != nil {
		s.t.Logf("list Applications: %v", err)
		return
	}
	_, unique, _ := strings.Cut(s.namespace, "-")
	for _, app := range list.Items {
		if !strings.Contains(app.GetName(), unique) {
			continue
		}
		text := asText(&app)
		if strings.Contains(text, secretMark) {
			s.t.Errorf("Application %s shows a secret", app.GetName())
		}
		if s.t.Failed() {
			s.t.Logf("Application %s at the end:\n%s", app.GetName(), text)
		}
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		if _, err := apps.Namespace(app.GetNamespace()).Patch(ctx, app.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.t.Logf("free Application %s: %v", app.GetName(), err)
		}
		if err := apps.Namespace(app.GetNamespace()).Delete(ctx, app.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.t.Logf("delete Application %s: %v", app.GetName(), err)
		}
	}
}

// test is one condition of waitfor.
type test struct {
	path  string
	match func(string) bool
	text  string
}

// readTest reads PATH=VALUE, PATH~REGEXP, or a word that stands for a common one.
func readTest(text string) (test, error) {
	words := map[string]string{
		"Synced": ".status.sync.status=Synced", "OutOfSync": ".status.sync.status=OutOfSync", "Unknown": ".status.sync.status=Unknown",
		"Healthy": ".status.health.status=Healthy", "Degraded": ".status.health.status=Degraded",
		"Missing": ".status.health.status=Missing", "Progressing": ".status.health.status=Progressing",
		"idle": ".operation=",
	}
	whole := text
	if long, ok := words[text]; ok {
		whole = long
	}
	depth := 0
	for i, r := range whole {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0 && r == '=':
			want := whole[i+1:]
			return test{path: whole[:i], match: func(have string) bool { return have == want }, text: text}, nil
		case depth == 0 && r == '~':
			want, err := regexp.Compile(whole[i+1:])
			if err != nil {
				return test{}, fmt.Errorf("read %s: %w", text, err)
			}
			return test{path: whole[:i], match: want.MatchString, text: text}, nil
		}
	}
	return test{}, fmt.Errorf("%s is no test: write PATH=VALUE or PATH~REGEXP", text)
}
