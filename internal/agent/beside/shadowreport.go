package beside

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
)

// Report is the report of an agent that writes nothing. It is the same as long as nothing changes.
type Report struct {
	Summary      shadowSummary `json:"summary"`
	Helm         *helmChoice   `json:"helm,omitempty"` // renders charts whose source names none
	Applications []shadowApp   `json:"applications"`
}

type shadowSummary struct {
	Applications int `json:"applications"`
	Agree        int `json:"agree"`    // sync and health are those of the status
	Disagree     int `json:"disagree"` // they are not; where both comparisons fail, both are Unknown
	Open         int `json:"open"`     // not compared: not yet, or not at all
	Objects      int `json:"objects"`  // on which a sync would do something
	WouldSync    int `json:"wouldSync"`
	Takeover     int `json:"takeover"` // objects of which a takeover changes the owners of fields, and nothing else
}

type shadowApp struct {
	Namespace  string                          `json:"namespace"`
	Name       string                          `json:"name"`
	Agrees     bool                            `json:"agrees"`
	Revisions  []string                        `json:"revisions,omitempty"`
	Sync       shadowWords                     `json:"sync"`
	Health     shadowWords                     `json:"health"`
	WouldSync  bool                            `json:"wouldSync"` // a sync would begin automatically now
	Note       string                          `json:"note,omitempty"`
	Error      string                          `json:"error,omitempty"`
	Conditions []v1alpha1.ApplicationCondition `json:"conditions,omitempty"`
	Objects    []wouldObject                   `json:"objects,omitempty"`  // what a sync would do, and nothing before it
	Takeover   []ownedObject                   `json:"takeover,omitempty"` // what the takeover itself would send
}

// shadowWords are ours and those of the status.
type shadowWords struct {
	Slipway string `json:"slipway"`
	Status  string `json:"status"`
}

// Report puts together what is known.
func (s *Shadow) Report() Report {
	out := Report{Applications: []shadowApp{}, Helm: s.helm.choice.Load()}
	s.registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		one := shadowApp{
			Namespace: id.Namespace, Name: id.Name,
			Sync: shadowWords{Status: string(app.Status.Sync.Status)}, Health: shadowWords{Status: string(app.Status.Health.Status)},
		}
		f := s.get(id)
		switch {
		case app.Annotations[v1alpha1.AnnotationSkipReconcile] == "true":
			one.Note = "skipped: annotation " + v1alpha1.AnnotationSkipReconcile
			out.Summary.Open++
		case app.DeletionTimestamp != nil:
			one.Note = "being deleted"
			out.Summary.Open++
		case f == nil:
			one.Note = "not compared yet"
			out.Summary.Open++
		default:
			one.take(f)
			one.Note = s.helm.ignores(app)
			out.Summary.count(one)
		}
		out.Summary.Applications++
		out.Applications = append(out.Applications, one)
	})
	slices.SortFunc(out.Applications, func(a, b shadowApp) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (o *shadowApp) take(f *finding) {
	o.Sync.Slipway, o.Health.Slipway = string(f.Sync), string(f.Health)
	compared := f.Error == "" || f.Sync == v1alpha1.SyncStatusUnknown // as it is where Argo CD's comparison fails, too
	o.Agrees = compared && o.Sync.Slipway == o.Sync.Status && o.Health.Slipway == o.Health.Status
	o.Revisions, o.WouldSync, o.Error, o.Conditions, o.Objects = f.Revisions, f.WouldSync, f.Error, f.Conditions, f.Objects
	o.Takeover = f.Takeover
}

func (s *shadowSummary) count(one shadowApp) {
	if one.Agrees {
		s.Agree++
	} else {
		s.Disagree++
	}
	if one.WouldSync {
		s.WouldSync++
	}
	s.Objects += len(one.Objects)
	s.Takeover += len(one.Takeover)
}

// print is the report as JSON.
func (s *Shadow) print() ([]byte, error) {
	raw, err := json.MarshalIndent(s.Report(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode shadow report: %w", err)
	}
	return append(raw, '\n'), nil
}

// Serve answers GET /shadow.
func (s *Shadow) Serve(w http.ResponseWriter, _ *http.Request) {
	raw, err := s.print()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // the other end may be gone
}

// shadowPause is the time between two writes of the report file at least.
const shadowPause = time.Second

// Keep writes the report file whenever the report is another one. That it cannot be written at all is an error.
func (s *Shadow) Keep(ctx context.Context, file string, log *slog.Logger) error {
	written, err := s.write(file, "")
	if err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		}
		fresh, err := s.write(file, written)
		if err != nil {
			log.Warn("shadow report not written", "err", err)
			s.stir()
		} else {
			written = fresh
		}
		timer.Reset(shadowPause)
	}
}

// write replaces the report file unless it holds the report already, and returns what it holds.
func (s *Shadow) write(file, written string) (string, error) {
	raw, err := s.print()
	if err != nil || string(raw) == written {
		return written, err
	}
	if err := replaceFile(file, raw); err != nil {
		return written, fmt.Errorf("write --shadow-report %s: %w: choose another file", file, err)
	}
	return string(raw), nil
}

// replaceFile makes a file hold raw. A concurrent reader gets the old content or the new one.
func replaceFile(path string, raw []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(raw)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
