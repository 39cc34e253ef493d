// Package deeplink finds the links that settings of Argo CD give to Applications, their objects and AppProjects: dashboards, logs
// and the like. Pure.
package deeplink

import (
	"errors"
	"fmt"
	"net/url"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/action"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Keys of argocd-cm.
const (
	OfApplications = "application.links"
	OfProjects     = "project.links"
	OfResources    = "resource.links"
)

// Limits of a setting, and of what is shown of it. Bytes.
const (
	maxSetting  = 256 << 10
	maxLinks    = 100
	maxTitle    = 200
	maxDescribe = 500
	maxProblem  = 500
)

// Objects are what conditions and templates see, as people may see them; nil for what there is none of.
type Objects struct {
	Resource, Application, Cluster, Project map[string]any
}

// named are the objects by their names in conditions and templates.
func (o Objects) named() map[string]map[string]any {
	return map[string]map[string]any{
		"resource": o.Resource, "application": o.Application, "app": o.Application, "cluster": o.Cluster, "project": o.Project,
	}
}

// setting is a link as argocd-cm has it.
type setting struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Description string `json:"description"`
	IconClass   string `json:"icon.class"`
	If          string `json:"if"`
}

// Find returns the links of a key that hold for some objects, in their order, and what is wrong with those that cannot be shown.
func Find(settings map[string]string, key string, objects Objects) api.Links {
	out := api.Links{Links: []api.Link{}}
	text := settings[key]
	wrong := func(err error) { out.Problems = append(out.Problems, legible.Line(key+": "+err.Error(), maxProblem)) }
	if len(text) > maxSetting {
		wrong(fmt.Errorf("it has %d bytes, more than %d: shorten it", len(text), maxSetting))
		return out
	}
	var list []setting
	if err := yaml.Unmarshal([]byte(text), &list); err != nil {
		wrong(fmt.Errorf("it is no list of links: %w", err))
		return out
	}
	if len(list) > maxLinks {
		wrong(fmt.Errorf("it has %d links, of which the first %d are shown", len(list), maxLinks))
		list = list[:maxLinks]
	}
	for _, s := range list {
		link, holds, err := s.link(objects)
		switch {
		case err != nil:
			wrong(fmt.Errorf("link %q: %w", s.Title, err))
		case holds:
			out.Links = append(out.Links, link)
		}
	}
	return out
}

// link makes the link for some objects, if it holds for them.
func (s setting) link(objects Objects) (link api.Link, holds bool, err error) {
	if s.Title == "" || s.URL == "" {
		return link, false, errors.New("it needs a title and a url")
	}
	if s.If != "" {
		condition, err := action.NewCondition(s.If, "resource", "application", "app", "cluster", "project")
		if err == nil {
			holds, err = condition.Holds(objects.named())
		}
		if err != nil || !holds {
			return link, false, err
		}
	}
	address, err := fill(s.URL, objects)
	if err != nil {
		return link, false, err
	}
	u, err := url.Parse(address)
	if err != nil || !legible.Link(address) {
		return link, false, fmt.Errorf("%q is no address that begins with https://, http:// or mailto:, or has credentials in it", address)
	}
	return api.Link{
		Title: legible.Line(s.Title, maxTitle), URL: u.String(), Description: legible.Line(s.Description, maxDescribe),
		IconClass: legible.Line(s.IconClass, maxTitle),
	}, true, nil
}
