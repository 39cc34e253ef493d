package install_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/install"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// apply puts a manifest into a cluster as kubectl would, and gives what the cluster made of it, by kind.
func apply(t *testing.T, text []byte) map[string]*unstructured.Unstructured {
	t.Helper()
	config := testenv.Cluster(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))
	out := map[string]*unstructured.Unstructured{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &object.Object); err != nil {
			t.Fatal(err)
		}
		if object.GetKind() == "" {
			continue // the comment at the beginning
		}
		gvk := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			t.Fatal(err)
		}
		var in dynamic.ResourceInterface = client.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			in = client.Resource(mapping.Resource).Namespace(object.GetNamespace())
		}
		made, err := in.Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "test", Force: true})
		if err != nil {
			t.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
		t.Cleanup(func() {
			_ = in.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{}) // the namespace goes anyway
		})
		out[object.GetKind()] = made
	}
}

func TestAClusterTakesEveryObject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		o     api.InstallOptions
		kinds []string
	}{
		{"of the whole cluster", api.InstallOptions{}, []string{"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment", "Service"}},
		{
			"of a namespace, behind a proxy",
			api.InstallOptions{Namespaced: true, Proxy: "http://proxy.example.org:3128", CA: certificate, PullSecret: "pull", ExistingSecret: "mine"},
			[]string{"ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Deployment", "Service"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.Namespace = testenv.Namespace(t)
			text, err := install.Manifest(options(c.o))
			if err != nil {
				t.Fatal(err)
			}
			made := apply(t, text)
			for _, kind := range c.kinds {
				object := made[kind]
				if object == nil || object.GetUID() == "" {
					t.Errorf("there is no %s", kind)
					continue
				}
				delete(made, kind)
				if namespace := object.GetNamespace(); namespace != "" && namespace != c.o.Namespace {
					t.Errorf("%s is in namespace %s", kind, namespace)
				}
				if kind != "RoleBinding" && kind != "ClusterRoleBinding" {
					continue
				}
				subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
				subject, _ := subjects[0].(map[string]any)
				if subject["name"] != "slipway-agent" || subject["namespace"] != c.o.Namespace {
					t.Errorf("%s is for %v", kind, subject)
				}
			}
			if len(made) != 0 {
				t.Errorf("there is more than is expected: %v", made)
			}
		})
	}
}
