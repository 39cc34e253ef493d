package mark

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func annotated(name, value string) *v1alpha1.Application {
	app := &v1alpha1.Application{}
	app.Name, app.Annotations = "web", map[string]string{name: value}
	return app
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
	pin := &v1alpha1.Pin{
		ID: 3, Revisions: []string{"abc"}, Sources: []v1alpha1.ApplicationSource{{RepoURL: "https://git.example.com/a.git", Path: "web"}},
		By: "ann", Reason: "orders are lost", At: at, Quarantine: v1alpha1.Quarantine{Revisions: []string{"def"}},
	}
	text, err := Write(v1alpha1.AnnotationRollback, pin)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPin(annotated(v1alpha1.AnnotationRollback, text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(pin, got); d != "" {
		t.Errorf("pin (-want +got):\n%s", d)
	}
	allowed := []v1alpha1.Allowance{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web", Until: at}}
	if text, err = Write(v1alpha1.AnnotationDriftAllowed, allowed); err != nil {
		t.Fatal(err)
	}
	list, err := ReadAllowances(annotated(v1alpha1.AnnotationDriftAllowed, text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(allowed, list); d != "" {
		t.Errorf("allowances (-want +got):\n%s", d)
	}
}

func TestAnAnnotationThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*v1alpha1.Application) error{
		v1alpha1.AnnotationRollback:     func(a *v1alpha1.Application) error { _, err := ReadPin(a); return err },
		v1alpha1.AnnotationDriftAllowed: func(a *v1alpha1.Application) error { _, err := ReadAllowances(a); return err },
		v1alpha1.AnnotationHistoryNotes: func(a *v1alpha1.Application) error { _, err := ReadNotes(a); return err },
	} {
		for _, value := range []string{"{", `"x"`, "7", `{"1":{},"1":{}}`, `[{"kind":"a","kind":"b"}]`, strings.Repeat(" ", v1alpha1.MaxAnnotation) + "{}"} {
			if err := read(annotated(name, value)); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %.10q gives %v, want an error that names the annotation", name, value, err)
			}
		}
		if err := read(&v1alpha1.Application{}); err != nil {
			t.Errorf("no %s gives %v", name, err)
		}
	}
	notes, err := ReadNotes(annotated(v1alpha1.AnnotationHistoryNotes, `{"one":{},"1":{"by":"ann"}}`))
	if err == nil || notes[1].By != "ann" || len(notes) != 1 {
		t.Errorf("a note on a deployment that is no number: %v, %v", notes, err)
	}
}

func TestAnAnnotationThatNobodyWouldReadIsNotWritten(t *testing.T) {
	t.Parallel()
	if _, err := Write(v1alpha1.AnnotationRollback, v1alpha1.Pin{Reason: strings.Repeat("x", v1alpha1.MaxAnnotation)}); err == nil {
		t.Error("written, although it is too long")
	}
}
