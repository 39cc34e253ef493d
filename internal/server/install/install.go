// Package install writes what puts an agent into a cluster: a manifest for kubectl, or values for the Helm chart. There
// is never a secret in it: the registration token is in a Secret that a person makes.
package install

import (
	"bytes"
	"cmp"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/statement"
)

const (
	// SecretName is the Secret with the registration token, where no other is named.
	SecretName = "slipway-agent-registration"
	// TokenKey is the key of the token in it.
	TokenKey = "token"
	// DefaultNamespace is where Argo CD's resources are by custom.
	DefaultNamespace = "argocd"

	name       = "slipway-agent"
	configMap  = "slipway-agent-ca"
	caKey      = "ca.crt"
	tokenDir   = "/etc/slipway/registration"
	caDir      = "/etc/slipway/ca"
	clientDir  = "/etc/slipway/client"
	groupReads = 0o440 // the agent runs as a member of the group that files of Secrets belong to

	releases   = "slipway-agent-releases"
	releaseKey = "keys.pem"
	releaseDir = "/etc/slipway/releases"
)

// Options is what the manifest depends on.
type Options struct {
	api.InstallOptions
	// Server is the URL that the agent dials.
	Server string
	// Agent is the id, for people who look at the objects.
	Agent string
	// Engine is what works on the Applications, one of api.Engine…; empty for the agent's own engine.
	Engine string
	// Image is that of the agent, without a tag: "ghcr.io/slipway-gitops/slipway-agent".
	Image string
	// Version is the tag.
	Version string
}

var (
	label     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	image     = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._:/-]{0,299}$`)
	pair      = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$`)
	hosts     = regexp.MustCompile(`^[A-Za-z0-9.,:/*_-]*$`)
)

// check refuses what would give a manifest that was not requested, and fills in what is left out.
func (o *Options) check() error {
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if o.ExistingSecret == "" {
		o.ExistingSecret = SecretName
	}
	if o.Image == "" {
		o.Image = "ghcr.io/slipway-gitops/slipway-agent"
	}
	switch {
	case o.Engine != "" && o.Engine != api.EngineSlipway && !o.beside():
		return fmt.Errorf("engine %.80q is none: it is %s or %s", o.Engine, api.EngineSlipway, api.EngineArgoCD)
	case !label.MatchString(o.Namespace):
		return fmt.Errorf("namespace %.80q is none: use lower-case letters, digits and hyphens", o.Namespace)
	case !subdomain.MatchString(o.ExistingSecret):
		return fmt.Errorf("existingSecret %.80q is no name of a Secret", o.ExistingSecret)
	case o.PullSecret != "" && !subdomain.MatchString(o.PullSecret):
		return fmt.Errorf("pullSecret %.80q is no name of a Secret", o.PullSecret)
	case o.ClientCertSecret != "" && !subdomain.MatchString(o.ClientCertSecret):
		return fmt.Errorf("clientCertSecret %.80q is no name of a Secret", o.ClientCertSecret)
	case o.CAConfigMap != "" && !subdomain.MatchString(o.CAConfigMap):
		return fmt.Errorf("caConfigMap %.80q is no name of a ConfigMap", o.CAConfigMap)
	case o.CAConfigMap != "" && o.CA != "":
		return errors.New("ca and caConfigMap exclude each other: give the certificates, or the ConfigMap that has them")
	case o.Registry != "" && (!image.MatchString(o.Registry) || strings.Contains(o.Registry, "//")):
		return fmt.Errorf("registry %.80q is none: write HOST or HOST/PATH, without https://", o.Registry)
	case !hosts.MatchString(o.NoProxy):
		return errors.New("noProxy has characters that hosts do not have: write hosts, suffixes and networks, with commas")
	}
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return errors.New("proxy is no address: write http://HOST:PORT")
		}
		if u.User != nil {
			return errors.New("proxy has a user in it, which a manifest must not show: leave it out, and set HTTPS_PROXY from a Secret of your own")
		}
	}
	if err := errors.Join(o.checkNamespaces(), o.checkSuccession()); err != nil {
		return err
	}
	if o.ReleaseKeys != "" {
		if _, err := statement.ParseKeys([]byte(o.ReleaseKeys)); err != nil {
			return fmt.Errorf("releaseKeys: %w", err)
		}
	}
	return checkCA(o.CA)
}

func (o *Options) checkSuccession() error {
	switch {
	case o.Succession == "" && o.Standby:
		return errors.New("standby needs succession: the name that the agent and its standby share")
	case o.Succession == "":
		return nil
	case !pair.MatchString(o.Succession):
		return fmt.Errorf("succession %.80q is no name: use up to 42 lower-case letters, digits and hyphens", o.Succession)
	case o.beside():
		return errors.New("succession is for the agent's own engine: nothing keeps an Argo CD from writing")
	}
	return nil
}

func checkCA(text string) error {
	rest := []byte(strings.TrimSpace(text))
	for len(rest) > 0 {
		block, after := pem.Decode(rest)
		if block == nil {
			return errors.New("ca is not PEM: paste the certificates with their BEGIN and END lines")
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("ca holds a %s: give certificates only", block.Type)
		}
		rest = bytes.TrimSpace(after)
	}
	return nil
}

// reference is the image with its tag, from the registry that is asked for.
func (o *Options) reference() string {
	ref := o.Image
	if o.Registry != "" {
		ref = o.Registry + "/" + o.Image[strings.LastIndexByte(o.Image, '/')+1:]
	}
	if strings.Contains(ref[strings.LastIndexByte(ref, '/')+1:], ":") || o.Version == "" {
		return ref
	}
	return ref + ":" + o.Version
}

type object = map[string]any

// Manifest is everything that the agent needs, as YAML for kubectl apply. The definitions of the custom resources are
// not in it: the agent brings its own, unless it may not.
func Manifest(o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Agent %s of Slipway.\n", o.Agent)
	switch {
	case o.beside():
		fmt.Fprintf(&out, "# It works with the Argo CD in namespace %s, which has to be there and stays as it is.\n", o.Namespace)
	case o.Namespaced:
		fmt.Fprintf(&out, "# It has Roles only. Namespace %s, the resource definitions and an AppProject have to be there.\n", o.Namespace)
	}
	for _, obj := range o.objects() {
		text, err := yaml.Marshal(obj)
		if err != nil {
			return nil, fmt.Errorf("write manifest: %w", err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

func (o *Options) objects() []object {
	var all []object
	if !o.Namespaced && !o.beside() {
		all = append(all, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": o.Namespace}})
	}
	all = append(all, o.named("v1", "ServiceAccount", name, nil))
	if o.beside() {
		all = append(all, o.rightsBeside()...)
	} else {
		all = append(all, o.rights()...)
	}
	if o.CA != "" {
		all = append(all, o.named("v1", "ConfigMap", configMap, object{"data": object{caKey: strings.TrimSpace(o.CA) + "\n"}}))
	}
	if o.ReleaseKeys != "" {
		all = append(all, o.named("v1", "ConfigMap", releases, object{"data": object{releaseKey: strings.TrimSpace(o.ReleaseKeys) + "\n"}}))
		all = append(all, o.upgrades()...)
	}
	return append(all, o.deployment(), o.service())
}

// named is an object of the agent's namespace.
func (o *Options) named(apiVersion, kind, called string, more object) object {
	out := object{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": object{"name": called, "namespace": o.Namespace, "labels": labels()},
	}
	for key, value := range more {
		out[key] = value
	}
	return out
}

func labels() object {
	return object{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "slipway"}
}

// rights: the agent deploys what Git says, and so needs what any application may need.
func (o *Options) rights() []object {
	const group, version = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
	subjects := []any{object{"kind": "ServiceAccount", "name": name, "namespace": o.Namespace}}
	everything := object{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}}
	if o.Namespaced {
		return o.rightsNamespaced()
	}
	// Two agents of one cluster must not share what belongs to the cluster.
	called := name + "-" + o.Namespace
	cluster := func(kind string, more object) object {
		out := o.named(version, kind, called, more)
		out["metadata"] = object{"name": called, "labels": labels()}
		return out
	}
	return []object{
		cluster("ClusterRole", object{"rules": []any{everything, object{"nonResourceURLs": []any{"*"}, "verbs": []any{"*"}}}}),
		cluster("ClusterRoleBinding", object{
			"roleRef": object{"apiGroup": group, "kind": "ClusterRole", "name": called}, "subjects": subjects,
		}),
	}
}

func (o *Options) args() []any {
	args := []any{
		"--server=" + o.Server, "--registration-token-file=" + tokenDir + "/" + TokenKey, "--namespace=" + o.Namespace, "--data=/data",
		"--health-listen=:8081", "--metrics-listen=:8082",
	}
	if o.beside() {
		args = append(args, "--engine="+o.Engine)
	} else {
		args = append(args, "--webhook-listen=:8083")
	}
	if o.CA != "" || o.CAConfigMap != "" {
		args = append(args, "--server-ca="+caDir+"/"+caKey)
	}
	if o.ReleaseKeys != "" {
		args = append(args, "--release-keys="+releaseDir+"/"+releaseKey)
	}
	args = append(args, o.successionArgs()...)
	if o.ClientCertSecret != "" {
		args = append(args, "--client-cert="+clientDir+"/tls.crt", "--client-key="+clientDir+"/tls.key")
	}
	if !o.beside() && (o.Namespaced || o.SkipCRDs) {
		args = append(args, "--install-crds=false")
	}
	if !o.beside() && o.Namespaced {
		args = append(args, "--namespaced")
	}
	return args
}

// successionArgs are those of an agent with a standby. With rights in its own namespace only, its Leases are there.
func (o *Options) successionArgs() []any {
	if o.Succession == "" {
		return nil
	}
	args := []any{"--succession=" + o.Succession}
	if o.Namespaced {
		args = append(args, "--succession-namespace="+o.Namespace)
	}
	if o.Standby {
		args = append(args, "--standby")
	}
	return args
}

func (o *Options) env() []any {
	if o.Proxy == "" {
		return nil
	}
	none := "localhost,127.0.0.1,.svc,.cluster.local,$(KUBERNETES_SERVICE_HOST)"
	if o.NoProxy != "" {
		none += "," + o.NoProxy
	}
	return []any{
		object{"name": "HTTPS_PROXY", "value": o.Proxy},
		object{"name": "HTTP_PROXY", "value": o.Proxy},
		object{"name": "NO_PROXY", "value": none},
	}
}

func (o *Options) deployment() object {
	mounts, volumes := o.volumes()
	ports := []any{port("health", 8081), port("metrics", 8082)}
	if !o.beside() {
		ports = append(ports, port("webhook", 8083))
	}
	container := object{
		"name": "agent", "image": o.reference(), "args": o.args(), "volumeMounts": mounts,
		"ports": ports,
		"livenessProbe": object{
			"httpGet": object{"path": "/healthz", "port": "health"}, "initialDelaySeconds": 5, "periodSeconds": 20, "timeoutSeconds": 5,
		},
		"readinessProbe": object{"httpGet": object{"path": "/readyz", "port": "health"}, "periodSeconds": 5},
		"resources":      object{"requests": object{"cpu": "100m", "memory": "128Mi"}, "limits": object{"memory": "1Gi"}},
		"securityContext": object{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": object{"drop": []any{"ALL"}},
		},
	}
	if env := o.env(); env != nil {
		container["env"] = env
	}
	pod := object{
		"serviceAccountName": name, "terminationGracePeriodSeconds": 30, "containers": []any{container}, "volumes": volumes,
		"securityContext": object{
			"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532, "seccompProfile": object{"type": "RuntimeDefault"},
		},
	}
	if o.PullSecret != "" {
		pod["imagePullSecrets"] = []any{object{"name": o.PullSecret}}
	}
	return o.named("apps/v1", "Deployment", name, object{"spec": object{
		// A second copy would wait for the lease.
		"replicas": 1, "strategy": object{"type": "Recreate"},
		"selector": object{"matchLabels": object{"app.kubernetes.io/name": name}},
		"template": object{"metadata": object{"labels": labels()}, "spec": pod},
	}})
}

// volumes are what the pod mounts, and where. Whole volumes: the kubelet does not renew a file that is mounted alone.
func (o *Options) volumes() (mounts, volumes []any) {
	mount := func(called, path string) {
		mounts = append(mounts, object{"name": called, "mountPath": path, "readOnly": true})
	}
	mounts = []any{object{"name": "data", "mountPath": "/data"}, object{"name": "tmp", "mountPath": "/tmp"}}
	volumes = []any{
		// Mirrors of repositories; they are fetched again when they are lost.
		object{"name": "data", "emptyDir": object{"sizeLimit": "10Gi"}},
		object{"name": "tmp", "emptyDir": object{}},
		// The token is of use once; the Secret may be deleted after that.
		object{"name": "registration", "secret": object{"secretName": o.ExistingSecret, "optional": true}},
	}
	mount("registration", tokenDir)
	if o.CA != "" || o.CAConfigMap != "" {
		volumes = append(volumes, object{"name": "ca", "configMap": object{"name": cmp.Or(o.CAConfigMap, configMap)}})
		mount("ca", caDir)
	}
	if o.ReleaseKeys != "" {
		volumes = append(volumes, object{"name": "releases", "configMap": object{"name": releases}})
		mount("releases", releaseDir)
	}
	if o.ClientCertSecret != "" {
		volumes = append(volumes, object{"name": "client", "secret": object{"secretName": o.ClientCertSecret, "defaultMode": groupReads}})
		mount("client", clientDir)
	}
	return mounts, volumes
}

func port(called string, number int) object {
	return object{"name": called, "containerPort": number}
}

func (o *Options) service() object {
	var ports []any
	if !o.beside() { // Argo CD takes webhooks itself
		ports = append(ports, object{"name": "webhook", "port": 80, "targetPort": "webhook"})
	}
	return o.named("v1", "Service", name, object{"spec": object{
		"selector": object{"app.kubernetes.io/name": name},
		"ports":    append(ports, object{"name": "metrics", "port": 8082, "targetPort": "metrics"}),
	}})
}

// Values is the same for the Helm chart slipway-agent.
func Values(o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	values := object{
		"server":         o.Server,
		"image":          o.reference(),
		"namespaced":     o.Namespaced,
		"installCRDs":    !o.Namespaced && !o.SkipCRDs,
		"existingSecret": o.ExistingSecret,
	}
	if len(o.Namespaces) > 0 {
		values["namespaces"] = o.Namespaces
	}
	if o.beside() {
		values["engine"] = o.Engine
	}
	if o.PullSecret != "" {
		values["imagePullSecrets"] = []any{object{"name": o.PullSecret}}
	}
	if o.CA != "" {
		values["ca"] = strings.TrimSpace(o.CA) + "\n"
	}
	if o.CAConfigMap != "" {
		values["caConfigMap"] = o.CAConfigMap
	}
	if o.ReleaseKeys != "" {
		values["releaseKeys"] = strings.TrimSpace(o.ReleaseKeys) + "\n"
	}
	if o.Succession != "" {
		values["succession"], values["standby"] = o.Succession, o.Standby
	}
	if o.ClientCertSecret != "" {
		values["clientCertSecret"] = o.ClientCertSecret
	}
	if o.Proxy != "" {
		values["proxy"] = object{"url": o.Proxy, "noProxy": o.NoProxy}
	}
	text, err := yaml.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("write values: %w", err)
	}
	head := fmt.Sprintf("# Values of agent %s for the chart deploy/helm/slipway-agent; install it into namespace %s.\n", o.Agent, o.Namespace)
	return append([]byte(head), text...), nil
}
