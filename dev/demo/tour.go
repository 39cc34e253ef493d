package demo

import (
	"fmt"
	"strings"
)

// The places of the tour: a service runs in three of them, in two regions.
const (
	Staging      = "staging"
	ProductionEU = "production-eu"
	ProductionUS = "production-us"
)

// Catalog is the application of the tour whose last commit deletes so much that the deletion guard holds it.
const Catalog = "catalog"

// regions is how many objects Catalog has at first, and keptRegions how many its last commit leaves.
const (
	regions     = 14
	keptRegions = 2
)

// Commit is a commit to the demo repository.
type Commit struct {
	Message string
	// Files are the contents by path; an empty one deletes the file.
	Files map[string]string
	// Applications are those that it changes, which are to be Synced and Healthy before the next commit.
	Applications []string
	// Holds are those whose sync is held then.
	Holds []string
}

// TourCommits are the commits of the tour in their order: two releases that move through the environments, and a
// commit that deletes too much.
func TourCommits() []Commit {
	staging, eu, us := "checkout-"+Staging, "checkout-"+ProductionEU, "checkout-"+ProductionUS
	catalog := map[string]string{}
	fewer := map[string]string{}
	for n := range regions {
		path := fmt.Sprintf("apps/%s/region-%02d.yaml", Catalog, n+1)
		catalog[path] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: region-%02d\ndata:\n  currency: EUR\n", n+1)
		if n >= keptRegions {
			fewer[path] = ""
		}
	}
	first := release("1.4.0", staging, eu, us)
	for path, content := range catalog {
		first[path] = content
	}
	return []Commit{
		{"Add checkout 1.4.0 and the catalog", first, []string{staging, eu, us, Catalog}, nil},
		{"Release checkout 1.4.1 to staging and production", release("1.4.1", staging, eu, us), []string{staging, eu, us}, nil},
		{"Release checkout 1.5.0 to staging", release("1.5.0", staging), []string{staging}, nil},
		{"Release checkout 1.5.0 to production in Europe", release("1.5.0", eu), []string{eu}, nil},
		{"Close most regions of the catalog", fewer, nil, []string{Catalog}},
	}
}

// release is the files of a version of the checkout for some of its applications.
func release(version string, applications ...string) map[string]string {
	files := map[string]string{}
	for _, name := range applications {
		replicas := 2
		if name == "checkout-"+Staging {
			replicas = 1
		}
		files["apps/"+name+"/checkout.yaml"] = fmt.Sprintf(checkout, replicas, version)
	}
	return files
}

// checkout is a Deployment of %d replicas at version %s, its Service and its settings.
const checkout = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: checkout
  labels: {app: checkout}
spec:
  replicas: %d
  selector:
    matchLabels: {app: checkout}
  template:
    metadata:
      labels: {app: checkout}
      annotations: {devcluster/log: "checkout: listening on :8080"}
    spec:
      containers:
        - name: checkout
          image: registry.example.com/shop/checkout:%s
          ports: [{name: http, containerPort: 8080}]
---
apiVersion: v1
kind: Service
metadata:
  name: checkout
spec:
  selector: {app: checkout}
  ports: [{name: http, port: 80, targetPort: http}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: checkout
data:
  basket-limit: "50"
`

// TourApplications returns the Applications of the tour, with repoURL as the address of the demo repository. Labels name
// the service and the environment that each is of. They have no namespace yet.
func TourApplications(repoURL string) []map[string]any {
	out := []map[string]any{tourApplication(Catalog, "catalog", ProductionEU, repoURL)}
	for _, environment := range []string{Staging, ProductionEU, ProductionUS} {
		out = append(out, tourApplication("checkout-"+environment, "checkout", environment, repoURL))
	}
	return out
}

func tourApplication(name, service, environment, repoURL string) map[string]any {
	stage, _, _ := strings.Cut(environment, "-")
	return map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata": map[string]any{
			"name":       name,
			"labels":     map[string]any{"slipway.io/service": service, "slipway.io/environment": environment, "stage": stage},
			"finalizers": []any{"resources-finalizer.argocd.argoproj.io"},
		},
		"spec": map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": repoURL, "path": "apps/" + name, "targetRevision": "main"},
			"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": name},
			"syncPolicy": map[string]any{
				"automated":   map[string]any{"prune": true, "selfHeal": true},
				"syncOptions": []any{"CreateNamespace=true"},
			},
		},
	}
}
