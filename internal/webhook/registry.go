package webhook

import (
	"errors"
	"net/http"
	"strings"
)

type ghcrPackage struct {
	Action  string `json:"action"`
	Package struct {
		Name  string `json:"name"`
		Type  string `json:"package_type"`
		Owner struct {
			Login string `json:"login"`
		} `json:"owner"`
		Version struct {
			Container struct {
				Tag struct {
					Name string `json:"name"`
				} `json:"tag"`
			} `json:"container_metadata"`
		} `json:"package_version"`
	} `json:"package"`
}

func decodeGHCR(_ http.Header, body []byte) ([]Event, error) {
	p, err := parse[ghcrPackage](body)
	if err != nil {
		return nil, err
	}
	tag := p.Package.Version.Container.Tag.Name
	if p.Action != "published" || !strings.EqualFold(p.Package.Type, "container") || tag == "" {
		return nil, nil
	}
	if p.Package.Owner.Login == "" || p.Package.Name == "" {
		return nil, errNoRepository
	}
	return []Event{{Kind: Registry, Artifact: Artifact{
		Registry: "ghcr.io", Repository: p.Package.Owner.Login + "/" + p.Package.Name, Tag: tag,
	}}}, nil
}

type harborEvent struct {
	Type string `json:"type"`
	Data struct {
		Resources []struct {
			Tag string `json:"tag"`
			URL string `json:"resource_url"`
		} `json:"resources"`
		Repository struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
			FullName  string `json:"repo_full_name"`
		} `json:"repository"`
	} `json:"event_data"`
}

func decodeHarbor(_ http.Header, body []byte) ([]Event, error) {
	p, err := parse[harborEvent](body)
	if err != nil || p.Type != "PUSH_ARTIFACT" {
		return nil, err
	}
	repo := p.Data.Repository
	name := repo.FullName
	if name == "" && repo.Namespace != "" && repo.Name != "" {
		name = repo.Namespace + "/" + repo.Name
	}
	var events []Event
	for _, r := range p.Data.Resources {
		if r.Tag == "" {
			continue // a replication that pushes by digest alone
		}
		host, err := registryOf(r.URL)
		if err != nil {
			return nil, err
		}
		if name == "" {
			return nil, errNoRepository
		}
		events = append(events, Event{Kind: Registry, Artifact: Artifact{Registry: host, Repository: name, Tag: r.Tag}})
	}
	return events, nil
}

var errNoRegistry = errors.New("the resource URL names no registry")

// registryOf returns the host of host/path:tag.
func registryOf(resource string) (string, error) {
	if _, rest, ok := strings.Cut(resource, "://"); ok {
		resource = rest
	}
	host, path, ok := strings.Cut(resource, "/")
	if !ok || host == "" || path == "" {
		return "", errNoRegistry
	}
	return host, nil
}

// artifactName is the one spelling of an OCI repository: lower case, without scheme and closing slash.
func artifactName(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(url)), "oci://"), "/")
}
