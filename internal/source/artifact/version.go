package artifact

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/slipway-gitops/slipway/internal/legible"
)

const (
	maxVersion = 256 // bytes of a version or a range
	maxNamed   = 5   // versions in a message
)

// Pinned reports whether a version cannot come to stand for something else: it is a digest.
func Pinned(version string) bool {
	return strings.HasPrefix(version, "sha256:") || strings.HasPrefix(version, "sha512:")
}

// Exact reports whether a version names one version, and not the best of several. By convention its content never changes.
func Exact(version string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(plus(version), "v"))
	return err == nil || Pinned(version)
}

// Choose finds the version that Argo CD would deploy among those that a remote has: one of the same name, else one that is equal as
// a version ("v1.0.0" is "1.0.0", and "_" in a tag is "+"), else the highest in the range. "" and "*" are the highest one. A
// pre-release is chosen only by its name or by a range that names one. The error wraps ErrNoVersion.
func Choose(version string, have []string) (string, error) {
	if version = strings.TrimSpace(version); version == "" {
		version = "*"
	}
	if len(version) > maxVersion {
		return "", fmt.Errorf("%w: it has more than %d bytes: correct it", ErrNoVersion, maxVersion)
	}
	if slices.Contains(have, version) {
		return version, nil
	}
	if want, err := semver.StrictNewVersion(strings.TrimPrefix(plus(version), "v")); err == nil {
		for _, name := range have {
			if v, ok := parse(name); ok && v.Equal(want) && v.Metadata() == want.Metadata() {
				return name, nil
			}
		}
		return "", missing(version, have)
	}
	within, err := semver.NewConstraint(version)
	if err != nil {
		return "", missing(version, have)
	}
	best, chosen := (*semver.Version)(nil), ""
	for _, name := range have {
		v, ok := parse(name)
		// Names that are equal as versions are distinguished by the name, so that the choice is stable.
		if ok && within.Check(v) && (best == nil || v.GreaterThan(best) || v.Equal(best) && name > chosen) {
			best, chosen = v, name
		}
	}
	if best == nil {
		return "", missing(version, have)
	}
	return chosen, nil
}

// Newest sorts versions, the highest first; what is no version comes last, by name.
func Newest(names []string) {
	versions := make(map[string]*semver.Version, len(names))
	for _, name := range names {
		if v, ok := parse(name); ok {
			versions[name] = v
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		va, vb := versions[a], versions[b]
		switch {
		case va != nil && vb != nil && !va.Equal(vb):
			return vb.Compare(va)
		case (va == nil) != (vb == nil):
			if va != nil {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
}

func parse(name string) (*semver.Version, bool) {
	if len(name) > maxVersion {
		return nil, false
	}
	v, err := semver.NewVersion(plus(name))
	return v, err == nil
}

// plus undoes what a registry cannot hold: a tag has no "+".
func plus(name string) string {
	if strings.Contains(name, "+") {
		return name
	}
	return strings.Replace(name, "_", "+", 1)
}

// missing names what there is instead.
func missing(version string, have []string) error {
	shown := legible.Line(version, 80)
	if len(have) == 0 {
		return fmt.Errorf("%w: %q: there is no version at all: publish one", ErrNoVersion, shown)
	}
	names := slices.Clone(have)
	Newest(names)
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(strings.TrimPrefix(name, "v"), strings.TrimPrefix(version, "v"))
	})
	if len(near) > 0 {
		names = near
	}
	for i := range names[:min(len(names), maxNamed)] {
		names[i] = legible.Line(names[i], 40)
	}
	if _, err := semver.NewConstraint(version); err != nil {
		return fmt.Errorf("%w: %q is neither a version nor a range: the newest are %s", ErrNoVersion, shown, list(names))
	}
	return fmt.Errorf("%w: nothing fits %q: the newest are %s", ErrNoVersion, shown, list(names))
}

func list(names []string) string { return strings.Join(names[:min(len(names), maxNamed)], ", ") }

// isAbsent reports whether an error is about the revision, and not about the remote.
func isAbsent(err error) bool { return errors.Is(err, ErrNoVersion) }
