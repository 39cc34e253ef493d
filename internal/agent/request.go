package agent

import (
	"net/http"
	"strconv"
	"strings"
)

// requestLabels says what a request to an API server is about, as its own metrics do.
func requestLabels(req *http.Request) (verb, group, resource, subresource string) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		return strings.ToUpper(req.Method), "", "discovery", ""
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	resource = parts[0]
	if len(parts) > 2 {
		subresource = parts[2]
	}
	return requestVerb(req, len(parts) > 1), group, resource, subresource
}

func requestVerb(req *http.Request, named bool) string {
	switch req.Method {
	case http.MethodGet:
		switch {
		case req.URL.Query().Get("watch") != "":
			return "WATCH"
		case !named:
			return "LIST"
		}
	case http.MethodPatch:
		if strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch") {
			return "APPLY"
		}
	}
	return req.Method
}

func statusLabel(resp *http.Response, err error) string {
	if err != nil {
		return "error"
	}
	return strconv.Itoa(resp.StatusCode)
}
