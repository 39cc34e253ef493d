package object

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Limits are the parts of a cluster that its Secret permits. The zero value permits everything. Limits that permit the same are
// equal by ==.
type Limits struct {
	secret     string
	namespaces string // sorted, with a comma around each; "" where there are no limits
	cluster    bool   // objects of the cluster are permitted too
}

// maxLimits bounds the namespaces of one cluster: each kind is watched in each of them.
const maxLimits = 500

// NewLimits reads the fields namespaces and clusterResources of a cluster Secret. As in Argo CD, the second has an effect only with
// the first.
func NewLimits(secret, namespaces, clusterResources string) (Limits, error) {
	if strings.TrimSpace(namespaces) == "" {
		return Limits{}, nil
	}
	l := Limits{secret: secret}
	switch strings.TrimSpace(clusterResources) {
	case "", "false":
	case "true":
		l.cluster = true
	default:
		return Limits{}, fmt.Errorf("cluster Secret %s: clusterResources is %.40q: write true or false", secret, clusterResources)
	}
	names := strings.FieldsFunc(namespaces, func(r rune) bool { return r == ',' })
	label := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	for i := range names {
		if names[i] = strings.TrimSpace(names[i]); !label.MatchString(names[i]) {
			return Limits{}, fmt.Errorf("cluster Secret %s: namespaces has %.80q, which is no name of a namespace: write names, separated by commas",
				secret, names[i])
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 || len(names) > maxLimits {
		return Limits{}, fmt.Errorf("cluster Secret %s: namespaces has %d names: write at least one and at most %d, separated by commas",
			secret, len(names), maxLimits)
	}
	l.namespaces = "," + strings.Join(names, ",") + ","
	return l, nil
}

// Any reports whether there are limits.
func (l Limits) Any() bool { return l.namespaces != "" }

// Namespaces are the permitted ones, sorted; nil where all are.
func (l Limits) Namespaces() []string {
	if !l.Any() {
		return nil
	}
	return strings.Split(strings.Trim(l.namespaces, ","), ",")
}

// Cluster reports whether objects without a namespace are permitted.
func (l Limits) Cluster() bool { return !l.Any() || l.cluster }

// Has reports whether a namespace is permitted.
func (l Limits) Has(namespace string) bool {
	return !l.Any() || namespace != "" && !strings.Contains(namespace, ",") && strings.Contains(l.namespaces, ","+namespace+",")
}

// PermitsNamespace returns an error that names the field of the Secret where a namespace is not permitted.
func (l Limits) PermitsNamespace(namespace string) error {
	if l.Has(namespace) {
		return nil
	}
	return fmt.Errorf("cluster Secret %s permits only namespaces %s (its field namespaces), not %.63s: deploy to one of "+
		"them, or add it to the Secret",
		l.secret, l.some(), namespace)
}

// Permits returns an error that names the field of the Secret where an object is not permitted.
func (l Limits) Permits(key Key) error {
	switch {
	case key.Namespace != "":
		if err := l.PermitsNamespace(key.Namespace); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	case !l.Cluster():
		return fmt.Errorf("%s: cluster Secret %s permits only objects in namespaces %s, and none of the cluster: "+
			"set its field clusterResources to true, or leave the object out", key, l.secret, l.some())
	}
	return nil
}

// some names the namespaces, as many as a message may hold.
func (l Limits) some() string {
	const most = 5
	names := l.Namespaces()
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// String identifies the limits.
func (l Limits) String() string {
	if !l.Any() {
		return ""
	}
	return fmt.Sprintf("%s%t", l.namespaces, l.cluster)
}
