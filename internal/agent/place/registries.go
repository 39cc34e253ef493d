package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
	"github.com/slipway-gitops/slipway/internal/source/oci"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
)

// Fields of a repository Secret that are of charts and registries alone.
const (
	fieldDockerConfig = ".dockerconfigjson"
	fieldIdentity     = "workloadIdentity" // aws, gcp or azure: sign in with the identity of the agent's pod
	fieldAzure        = "useAzureWorkloadIdentity"
	fieldPlainHTTP    = "insecureOCIForceHttp"
	fieldOCI          = "enableOCI"
	fieldPass         = "passCredentials" // send the credential where the index of a Helm repository leads
)

// Parameters of argocd-cmd-params-cm about registries, as in Argo CD.
const (
	parameterMediaTypes = "reposerver.oci.layer.media.types"
	parameterOCISize    = "reposerver.oci.manifest.max.extracted.size"
	parameterHelmSize   = "reposerver.helm.manifest.max.extracted.size"
)

const (
	maxExtracted  = 1 << 30 // bytes; what a parameter asks for beyond is cut
	maxMediaTypes = 20
)

// Registries opens repositories of OCI registries as the settings describe them.
type Registries struct {
	Settings *Settings
	Store    *archive.Store
	Outbound *outward.Policy
	Pod      *registrylogin.Pod
	Log      *slog.Logger
}

// Open makes a remote. It asks nothing of the registry.
func (r *Registries) Open(of Registered) (artifact.Remote, error) { return r.open(of) }

// open makes a remote of its own type.
func (r *Registries) open(of Registered) (*oci.Remote, error) {
	if r == nil {
		return nil, errors.New("OCI registries are not read here: use a Helm repository, or vendor the chart in Git")
	}
	address, version, err := oci.ParseArtifact(of.Address, of.Chart)
	if err == nil {
		err = Secret{Data: of.Fields}.signsInTo(ofOCI)
	}
	if err != nil {
		return nil, err
	}
	field := func(name string) string { return strings.TrimSpace(string(of.Fields[name])) }
	o := oci.Options{
		Address: address, Version: version, Chart: of.Chart != "", Access: of.Access, PlainHTTP: field(fieldPlainHTTP) == "true",
		Outbound: r.Outbound, Store: r.Store, Log: r.Log,
	}
	o.MediaTypes, o.Limits = r.parameters(o.Chart)
	o.Keeper, o.Access.Identity, err = r.keeper(of, field)
	if err != nil {
		return nil, err
	}
	return oci.Open(o)
}

// Try asks a registry whether it accepts how it is reached, and returns how many tags the repository has; -1 where its setting is for
// charts below it.
func (r *Registries) Try(ctx context.Context, of Registered) (tags int, err error) {
	remote, err := r.open(of)
	if err != nil {
		return 0, err
	}
	if strings.TrimSpace(string(of.Fields[fieldOCI])) == "true" || remote.Root() {
		return -1, remote.Ping(ctx)
	}
	found, err := remote.Releases(ctx, "", maxVersions)
	return len(found.Versions), err
}

// Versions lists the tags of an artifact or the versions of a chart, the highest first.
func (r *Registries) Versions(ctx context.Context, of Registered) (artifact.Releases, error) {
	remote, err := r.open(of)
	if err != nil {
		return artifact.Releases{}, err
	}
	return remote.Releases(ctx, of.Chart, maxVersions)
}

// maxVersions bounds the versions that are listed of one artifact.
const maxVersions = 100_000

// keeper has the secrets of a setting, and its identity; none where user name, password and token of the access are all.
func (r *Registries) keeper(of Registered, field func(string) string) (registrylogin.Keeper, string, error) {
	sec := Secret{Data: of.Fields}
	cloud := field(fieldIdentity)
	azure, err := sec.flag(fieldAzure)
	if err != nil {
		return nil, "", err
	}
	if cloud == "" && azure {
		cloud = string(registrylogin.Azure)
	}
	way := of.Access.WithoutSecrets().Scope()
	switch {
	case cloud != "":
		called, err := registrylogin.ParseCloud(cloud)
		if err != nil {
			return nil, "", fmt.Errorf("%s of the repository: %w", fieldIdentity, err)
		}
		if err := sec.forAgent(); err != nil {
			return nil, "", err
		}
		if r.Pod == nil {
			return nil, "", errors.New("the identity of a pod is not used here: set user name and password")
		}
		return r.Pod.Keeper(called, of.Access), "pod " + string(called) + " " + way, nil
	case len(of.Fields[fieldDockerConfig]) > 0 && of.Access.Username == "" && of.Access.Password == "" && of.Access.Bearer == "":
		raw := of.Fields[fieldDockerConfig]
		config, err := registrylogin.ReadDockerConfig(raw)
		if err != nil {
			return nil, "", err
		}
		sum := sha256.Sum256(raw)
		return config, "docker " + hex.EncodeToString(sum[:]) + " " + way, nil
	}
	return nil, "", nil
}

// parameters are the media types that are unpacked, and the bounds of what is in them.
func (r *Registries) parameters(chart bool) ([]string, archive.Limits) {
	set := r.Settings.Config(ConfigParameters)
	var types []string
	for one := range strings.SplitSeq(set[parameterMediaTypes], ",") {
		if one = strings.TrimSpace(one); one != "" && len(types) < maxMediaTypes {
			types = append(types, one)
		}
	}
	name := parameterOCISize
	if chart {
		name = parameterHelmSize
	}
	var limits archive.Limits
	if q, err := resource.ParseQuantity(strings.TrimSpace(set[name])); err == nil && q.Value() > 0 {
		limits.Bytes = min(q.Value(), maxExtracted)
	}
	return types, limits
}

// ofRegistry reports whether an address is one of a registry: it has the scheme of registries, or none and a host with a path, as
// Argo CD writes registries of Helm charts.
func ofRegistry(address string) bool {
	if isOCI(address) {
		return true
	}
	host, _, _ := strings.Cut(address, "/")
	return address != "" && !strings.Contains(address, "://") && !strings.ContainsAny(host, "@\\ ") && strings.Contains(host, ".") &&
		!strings.HasPrefix(address, "/") && onlyPort(host)
}

// onlyPort reports whether what follows a colon in a host is a port: git@host:path and host:path are of Git.
func onlyPort(host string) bool {
	_, port, has := strings.Cut(host, ":")
	return !has || port != "" && strings.Trim(port, "0123456789") == ""
}

// sameRegistry reports whether two addresses name one repository of a registry; both may leave out the scheme.
func sameRegistry(a, b string) bool {
	x, ok := registryAddress(a)
	if !ok {
		return false
	}
	y, ok := registryAddress(b)
	return ok && x == y
}

// belowRegistry reports whether an address is at or under that of a template.
func belowRegistry(address, prefix string) bool {
	x, ok := registryAddress(address)
	if !ok {
		return false
	}
	y, ok := registryAddress(prefix)
	return ok && x.Host == y.Host && (y.Path == "" || x.Path == y.Path || strings.HasPrefix(x.Path, y.Path+"/"))
}

func registryAddress(text string) (oci.Address, bool) {
	if !ofRegistry(text) {
		return oci.Address{}, false
	}
	a, _, err := oci.ParseAddress(text)
	a.Host = dockerhub.Host(a.Host)
	return a, err == nil
}

// Registry reports whether a source is read from a registry: by its address, or because the fields of its Secret set it.
func Registry(address, chart string, fields map[string][]byte) bool {
	return isOCI(address) || strings.TrimSpace(string(fields[fieldOCI])) == "true" || chart != "" && ofRegistry(address)
}
