package need

import (
	"fmt"
	"strings"
)

// BuildOptions are the options of "kustomize build" that are acted on.
type BuildOptions struct {
	EnableHelm  bool
	LoadAll     bool   // LoadRestrictionsNone: files outside the directory of a kustomization, never outside the repository
	Reorder     string // "", "legacy" or "none"
	KubeVersion string // for charts
	APIVersions []string
}

// refusedOptions are options that would run programs of the source's choice or have no meaning here, by why.
func refusedOptions() map[string]string {
	const runs = "it would run programs that the repository names, and rendering runs none"
	return map[string]string{
		"enable-alpha-plugins": runs, "enable-exec": runs, "enable-star": runs, "network": runs, "network-name": runs, "mount": runs,
		"env": runs, "e": runs, "as-current-user": runs,
		"output":                  "what is rendered goes to the cluster, and not to a file",
		"o":                       "what is rendered goes to the cluster, and not to a file",
		"enable-managedby-label":  "set buildMetadata: [managedByLabel] in the kustomization",
		"enable-kyaml":            "it has no meaning since Kustomize 5",
		"allow-id-changes":        "it has no meaning since Kustomize 5",
		"enable-alpha-kustomizer": "it is no option of kustomize build",
	}
}

// ParseBuildOptions reads kustomize.buildOptions. An option that is not known is refused: what it changes would be missing
// without a word.
func ParseBuildOptions(text string) (BuildOptions, error) {
	var o BuildOptions
	args := strings.Fields(text)
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		name = strings.ReplaceAll(name, "_", "-")
		next := func() (string, error) {
			if given {
				return value, nil
			}
			if len(args) == 0 {
				return "", fmt.Errorf("kustomize.buildOptions in argocd-cm: %s needs a value; write it as %s=VALUE", arg, arg)
			}
			value, args = args[0], args[1:]
			return value, nil
		}
		var err error
		switch {
		case !strings.HasPrefix(arg, "-"):
			return o, fmt.Errorf("kustomize.buildOptions in argocd-cm: %.100q is no option; remove it", arg)
		case name == "enable-helm":
			o.EnableHelm = !given || value == "true"
		case name == "helm-debug":
		case name == "helm-command": // Helm is built in
			_, err = next()
		case name == "helm-kube-version":
			o.KubeVersion, err = next()
		case name == "helm-api-versions":
			var list string
			list, err = next()
			o.APIVersions = append(o.APIVersions, strings.Split(list, ",")...)
		case name == "load-restrictor":
			err = o.restrict(next())
		case name == "reorder":
			err = o.reorder(next())
		default:
			why, known := refusedOptions()[name]
			if !known {
				why = "it is not known"
			}
			return o, fmt.Errorf("kustomize.buildOptions in argocd-cm: %.100s is not supported: %s; remove it", arg, why)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

func (o *BuildOptions) restrict(value string, err error) error {
	switch value {
	case "LoadRestrictionsNone", "none":
		o.LoadAll = true
	case "LoadRestrictionsRootOnly", "rootOnly":
		o.LoadAll = false
	default:
		if err == nil {
			err = fmt.Errorf("kustomize.buildOptions in argocd-cm: --load-restrictor %.100q is not known; "+
				"write LoadRestrictionsRootOnly or LoadRestrictionsNone", value)
		}
	}
	return err
}

func (o *BuildOptions) reorder(value string, err error) error {
	if err == nil && value != "legacy" && value != "none" {
		err = fmt.Errorf("kustomize.buildOptions in argocd-cm: --reorder %.100q is not known; write legacy or none", value)
	}
	o.Reorder = value
	return err
}
