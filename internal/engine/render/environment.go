package render

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// environment is the build environment of one source. It notes which of its parts were used.
type environment struct {
	req  Request
	used Deps
}

// isVariable reports whether name is a variable of the build environment.
func isVariable(name string) bool {
	return strings.HasPrefix(name, "ARGOCD_APP_") || name == "KUBE_VERSION" || name == "KUBE_API_VERSIONS"
}

func newEnvironment(req Request) *environment { return &environment{req: req} }

// expand replaces $NAME and ${NAME}; an unknown name becomes empty, and $$ stands for a dollar sign.
func (e *environment) expand(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	return os.Expand(s, e.value)
}

func (e *environment) value(name string) string {
	switch name {
	case "$":
		return "$"
	case "ARGOCD_APP_NAME":
		return e.req.App.Name
	case "ARGOCD_APP_NAMESPACE":
		return e.req.Namespace
	case "ARGOCD_APP_PROJECT_NAME":
		return e.req.App.Project
	case "ARGOCD_APP_REVISION":
		return e.revision(0)
	case "ARGOCD_APP_REVISION_SHORT":
		return e.revision(7)
	case "ARGOCD_APP_REVISION_SHORT_8":
		return e.revision(8)
	case "ARGOCD_APP_SOURCE_PATH":
		return e.req.Source.Path
	case "ARGOCD_APP_SOURCE_REPO_URL":
		return e.req.Source.RepoURL
	case "ARGOCD_APP_SOURCE_TARGET_REVISION":
		return e.req.Source.TargetRevision
	case "KUBE_VERSION":
		e.used.Cluster = true
		return strings.TrimPrefix(e.req.Cluster.KubeVersion, "v")
	case "KUBE_API_VERSIONS":
		e.used.Cluster = true
		return strings.Join(e.req.Cluster.APIVersions, ",")
	}
	return ""
}

func (e *environment) revision(length int) string {
	e.used.Revision = true
	rev := e.req.Tree.Revision()
	if length > 0 && len(rev) > length {
		return rev[:length]
	}
	return rev
}

// expandFile leaves the name of another source at the start of a file name alone: "$values/$ARGOCD_APP_NAME.yaml". Where
// an application has several sources, a name that is neither a source nor a variable is a mistake.
func (e *environment) expandFile(name string) (string, error) {
	first, rest, found := strings.Cut(name, "/")
	if ref, ok := strings.CutPrefix(first, "$"); ok {
		if _, known := e.req.Refs[ref]; known && found {
			return first + "/" + e.expand(rest), nil
		}
		if e.req.Refs != nil && !strings.HasPrefix(ref, "$") && !isVariable(strings.Trim(ref, "{}")) {
			return "", fmt.Errorf("%s refers to source %q, but no source of the application has that ref; give it to the source that holds the file",
				name, ref)
		}
	}
	return e.expand(name), nil
}

// substitute fills the build environment into the fields that may use it.
func substitute(src *v1alpha1.ApplicationSource, e *environment) error {
	if h := src.Helm; h != nil {
		if err := substituteHelm(h, e); err != nil {
			return err
		}
	}
	if k := src.Kustomize; k != nil {
		for i := range k.Images {
			k.Images[i] = e.expand(k.Images[i])
		}
		for name, v := range k.CommonLabels {
			k.CommonLabels[name] = e.expand(v)
		}
		if k.CommonAnnotationsEnvsubst {
			for name, v := range k.CommonAnnotations {
				k.CommonAnnotations[name] = e.expand(v)
			}
			k.CommonAnnotationsEnvsubst = false // done: a second time would read $$ again
		}
		for i := range k.Replicas {
			if c := &k.Replicas[i].Count; c.Type == intstr.String {
				c.StrVal = e.expand(c.StrVal)
			}
		}
	}
	if d := src.Directory; d != nil {
		for _, vars := range [][]v1alpha1.JsonnetVar{d.Jsonnet.ExtVars, d.Jsonnet.TLAs} {
			for i := range vars {
				vars[i].Value = e.expand(vars[i].Value)
			}
		}
	}
	return nil
}

func substituteHelm(h *v1alpha1.HelmSource, e *environment) error {
	var err error
	for i := range h.ValueFiles {
		if h.ValueFiles[i], err = e.expandFile(h.ValueFiles[i]); err != nil {
			return fmt.Errorf("value file %w", err)
		}
	}
	for i := range h.Parameters {
		p := &h.Parameters[i]
		p.Name, p.Value = e.expand(p.Name), e.expand(p.Value)
	}
	for i := range h.FileParameters {
		p := &h.FileParameters[i]
		p.Name = e.expand(p.Name)
		if p.Path, err = e.expandFile(p.Path); err != nil {
			return fmt.Errorf("file parameter %w", err)
		}
	}
	return nil
}
