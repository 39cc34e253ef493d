package desire

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/repository"
)

// readBook reads the repository Secrets beside the Applications, and what else decides how repositories are reached.
func readBook(ctx context.Context, cluster *connect.Cluster) (repository.Book, error) {
	out := repository.Book{Secrets: map[string]repository.Secret{}}
	secrets := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(cluster.Apps.Namespace())
	list, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: fmt.Sprintf("%s in (%s,%s)",
		v1alpha1.LabelSecretType, v1alpha1.SecretTypeRepository, v1alpha1.SecretTypeRepoCreds)})
	if err != nil {
		return out, connect.Explain(fmt.Errorf("read repository Secrets: %w", err))
	}
	for i := range list.Items {
		out.Secrets[list.Items[i].GetName()] = secretOf(&list.Items[i])
	}
	hosts, err := readConfigMap(ctx, cluster, "argocd-ssh-known-hosts-cm")
	if err != nil {
		return out, err
	}
	out.KnownHosts = []byte(hosts["ssh_known_hosts"])
	out.Roots, err = readConfigMap(ctx, cluster, "argocd-tls-certs-cm")
	return out, err
}

// readConfigMap returns the data of a ConfigMap beside the Applications; nothing where it does not exist.
func readConfigMap(ctx context.Context, cluster *connect.Cluster, name string) (map[string]string, error) {
	maps := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(cluster.Apps.Namespace())
	obj, err := maps.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("read ConfigMap %s: %w", name, err))
	}
	data, _, err := unstructured.NestedStringMap(obj.Object, "data")
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s: %w", name, err)
	}
	return data, nil
}

// secretOf reads a Secret, with what a file has in stringData. A value that is not base64 is left out.
func secretOf(s *unstructured.Unstructured) repository.Secret {
	out := repository.Secret{Kind: s.GetLabels()[v1alpha1.LabelSecretType], Data: map[string][]byte{}}
	data, _, _ := unstructured.NestedStringMap(s.Object, "data")
	for field, text := range data {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			out.Data[field] = raw
		}
	}
	plain, _, _ := unstructured.NestedStringMap(s.Object, "stringData")
	for field, text := range plain {
		out.Data[field] = []byte(text)
	}
	return out
}

// fileBook reads repository Secrets of a file, "" for none.
func fileBook(file string) (repository.Book, error) {
	out := repository.Book{Secrets: map[string]repository.Secret{}}
	if file == "" {
		return out, nil
	}
	docs, err := manifest.Read(file, os.Stdin)
	if err != nil {
		return out, errors.New("read the file of --credentials: it is no YAML with Secrets, or cannot be opened") // its text may be secret
	}
	for i, doc := range docs {
		s := &unstructured.Unstructured{Object: doc}
		sec := secretOf(s)
		if s.GetKind() != "Secret" || sec.Kind != v1alpha1.SecretTypeRepository && sec.Kind != v1alpha1.SecretTypeRepoCreds {
			return out, fmt.Errorf("the file of --credentials has a %.50s that is no repository Secret: label it %s=%s or %s", s.GetKind(),
				v1alpha1.LabelSecretType, v1alpha1.SecretTypeRepository, v1alpha1.SecretTypeRepoCreds)
		}
		name := s.GetName()
		if _, taken := out.Secrets[name]; taken || name == "" {
			name = fmt.Sprintf("%s, document %d of the file", name, i+1)
		}
		out.Secrets[name] = sec
	}
	return out, nil
}
