package place

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
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
	if err != nil {
		return nil, err
	}
	sec := repository.Secret{Data: of.Fields}
	o := oci.Options{
		Address: address, Version: version, Chart: of.Chart != "", Access: of.Access, PlainHTTP: sec.PlainHTTP(),
		Outbound: r.Outbound, Store: r.Store, Log: r.Log,
	}
	o.MediaTypes, o.Limits = r.parameters(o.Chart)
	if o.Keeper, o.Access.Identity, err = sec.Keeper(of.Access, r.Pod); err != nil {
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
	if (repository.Secret{Data: of.Fields}).Registry() || remote.Root() {
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
