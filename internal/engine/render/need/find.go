package need

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Find lists what req needs, as far as its trees show: each need whose tree is in req.Needs is looked into for more. A caller
// fetches what is missing there and asks again, until nothing is; that takes at most MaxRounds rounds. req is as for a Pipeline.
// Deps says what the result depends on besides trees and source. What cannot be read gives no needs: rendering says better what
// is wrong with it.
func Find(req render.Request, disabled ...render.Tool) ([]Need, render.Deps, error) {
	if req.Source.IsRef() {
		return nil, render.Deps{}, nil
	}
	req, deps, err := render.Prepare(req, disabled...)
	if render.IsTransient(err) {
		return nil, deps, err
	}
	if err != nil {
		return nil, deps, nil //nolint:nilerr // see above
	}
	l := &list{}
	switch req.Tool {
	case render.Helm:
		err = findHelm(req, l)
	case render.Kustomize:
		err = findKustomize(req, l)
	}
	return l.needs, deps, err
}

// Missing lists those of needs that have no tree yet.
func Missing(needs []Need, have map[string]source.Tree) []Need {
	var out []Need
	for _, n := range needs {
		if have[n.Key()] == nil {
			out = append(out, n)
		}
	}
	return out
}

// passing returns err where it does not lie in what a tree holds, and nil otherwise.
func passing(err error) error {
	for _, known := range []error{fs.ErrNotExist, fs.ErrInvalid, source.ErrEscape, source.ErrLinkLoop, source.ErrTooLarge} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return err
}

func findHelm(req render.Request, l *list) error {
	if h := req.Source.Helm; h != nil {
		names := append([]string{}, h.ValueFiles...)
		for _, p := range h.FileParameters {
			names = append(names, p.Path)
		}
		for _, name := range names {
			if !req.Settings.ValueFileURL(name) {
				continue
			}
			if n, err := FileOf(name); err == nil {
				n.By = "a value file"
				if err := l.add(n); err != nil {
					return err
				}
			}
		}
	}
	has, err := vendored(req.Tree, req.Source.Path)
	if err != nil {
		return passing(err)
	}
	charts, err := Charts(req.Tree, req.Source.Path, func(name string) bool { return has[name] })
	if err != nil {
		return fmt.Errorf("render chart %s: %w", req.Source.Path, err)
	}
	for _, n := range charts {
		if err := l.add(n); err != nil {
			return fmt.Errorf("render chart %s: %w", req.Source.Path, err)
		}
	}
	return nil
}
