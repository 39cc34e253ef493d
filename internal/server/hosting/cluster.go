// Package hosting runs agents beside the server, as processes of their own, for clusters whose kubeconfigs the operator of
// the server keeps in a directory. It hands on the paths of these files, and reads none of them.
package hosting

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	kubeconfigSuffix = ".kubeconfig"
	settingSuffix    = ".yaml"
	// maxSetting bounds the file with the settings of a cluster, in bytes.
	maxSetting = 64 << 10
)

// names are those of clusters and namespaces.
var names = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Clusters is the directory of the operator: NAME.kubeconfig for each cluster, and NAME.yaml for the scopes that may use it.
type Clusters string

// setting is NAME.yaml.
type setting struct {
	// Scopes may have agents on the cluster: account, org.acme, project.acme.shop.
	Scopes []string `json:"scopes"`
	// Namespace is that of the one agent that the cluster takes; each has one of its own where it is empty.
	Namespace string `json:"namespace"`
}

// Kubeconfig is the file of a cluster. It is an error where there is none.
func (c Clusters) Kubeconfig(name string) (string, error) {
	if !names.MatchString(name) {
		return "", fmt.Errorf("%.80q is no name of a cluster: use lower-case letters, digits and hyphens", name)
	}
	path := filepath.Join(string(c), name+kubeconfigSuffix)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("the operator of the server has no cluster %s any more: there is no %s in the directory of --hosted-dir", name,
			name+kubeconfigSuffix)
	}
	return path, nil
}

// Permit says which cluster an agent of a scope goes to, and its namespace where the operator has chosen that. Without a
// name it is the only one that may be used. What has no settings is for those who may do everything.
func (c Clusters) Permit(name string, scope api.Scope, everything bool) (cluster, namespace string, err error) {
	known, err := c.list()
	if err != nil {
		return "", "", err
	}
	var may []string
	spaces := map[string]string{}
	for _, cluster := range known {
		s, err := c.setting(cluster)
		if err != nil {
			if cluster == name {
				return "", "", err
			}
			continue
		}
		if everything || slices.ContainsFunc(s.Scopes, func(text string) bool { return api.Scope(text).Contains(scope) }) {
			may = append(may, cluster)
			spaces[cluster] = s.Namespace
		}
	}
	switch {
	case name == "" && len(may) == 1:
		return may[0], spaces[may[0]], nil
	case slices.Contains(may, name):
		return name, spaces[name], nil
	case len(may) == 0:
		return "", "", api.Errorf(api.CodeForbidden,
			"no cluster of this server may be used for hosted agents of %s: ask its operator to name the scope in CLUSTER.yaml in the directory "+
				"of --hosted-dir", scope)
	case name == "":
		return "", "", &api.Error{
			Code: api.CodeInvalid, Field: "body.hosted.cluster", Message: "several clusters may be used: name one of " + strings.Join(may, ", "),
		}
	}
	return "", "", &api.Error{
		Code: api.CodeInvalid, Field: "body.hosted.cluster",
		Message: fmt.Sprintf("there is no cluster %.80q for hosted agents of %s: name one of %s", name, scope, strings.Join(may, ", ")),
	}
}

// list names the clusters.
func (c Clusters) list() ([]string, error) {
	entries, err := os.ReadDir(string(c))
	if err != nil {
		return nil, fmt.Errorf("read --hosted-dir: %w", err)
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), kubeconfigSuffix); ok && names.MatchString(name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// setting reads NAME.yaml. What cannot be read permits nothing.
func (c Clusters) setting(name string) (s setting, err error) {
	path := filepath.Join(string(c), name+settingSuffix)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil && info.Size() > maxSetting {
		err = fmt.Errorf("it is larger than %d bytes", maxSetting)
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err == nil {
		raw, err = yaml.YAMLToJSONStrict(raw)
	}
	if err == nil {
		err = strict.Decode(raw, &s)
	}
	for _, text := range s.Scopes {
		if _, bad := api.ParseScope(text); bad != nil && err == nil {
			err = bad
		}
	}
	if err == nil && s.Namespace != "" && !names.MatchString(s.Namespace) {
		err = fmt.Errorf("namespace %.80q is none: use lower-case letters, digits and hyphens", s.Namespace)
	}
	if err != nil {
		return setting{}, fmt.Errorf("read %s in --hosted-dir, which lists the scopes that may use cluster %s: %w", name+settingSuffix, name, err)
	}
	return s, nil
}
