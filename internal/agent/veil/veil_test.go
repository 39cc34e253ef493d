package veil_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/agent/veil"
)

func TestWhatIsNotedIsHidden(t *testing.T) {
	t.Parallel()
	v := veil.New()
	if !v.Empty() || v.Text("plum-Tree-4711") != "plum-Tree-4711" {
		t.Error("something is hidden before anything is noted")
	}
	v.Note([]string{"plum-Tree-4711", "level: info\ntoken: cedar-Stone-9087\nKEY=\"mango-River-2201\"\n"})
	for _, secret := range []string{"plum-Tree-4711", "cedar-Stone-9087", "mango-River-2201"} {
		for name, text := range map[string]string{
			"text": v.Text("refused: postgres://shop:" + secret + "@db"), "document": string(v.Document([]byte(`{"data":{"a":"x` + secret + `y"}}`))),
			"error": v.Error(fmt.Errorf("bad value %s", secret)).Error(), "printed": fmt.Sprintf("%v %+v %#v", v, v, v),
		} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	if got := v.Text("level: info stays"); got != "level: info stays" {
		t.Errorf("got %q", got)
	}
}

func TestAnErrorKeepsWhatItWraps(t *testing.T) {
	t.Parallel()
	v := veil.New()
	v.Note([]string{"plum-Tree-4711"})
	known := errors.New("known")
	err := v.Error(fmt.Errorf("plum-Tree-4711: %w", known))
	if !errors.Is(err, known) || strings.Contains(err.Error(), "plum") {
		t.Errorf("got %v", err)
	}
	if v.Error(known) != known || v.Error(nil) != nil { //nolint:errorlint // the same error is meant
		t.Error("an error with nothing to hide became another one")
	}
}

func TestALogHasNothingOfIt(t *testing.T) {
	t.Parallel()
	v := veil.New()
	v.Note([]string{"plum-Tree-4711"})
	var out bytes.Buffer
	log := v.Log(slog.New(slog.NewJSONHandler(&out, nil)))
	log.With("a", "plum-Tree-4711").WithGroup("g").Info("plum-Tree-4711", "b", "plum-Tree-4711", "err", errors.New("plum-Tree-4711"),
		slog.Group("c", "d", []string{"plum-Tree-4711"}), "n", 1)
	if strings.Contains(out.String(), "plum") || strings.Count(out.String(), "(hidden)") != 5 || !strings.Contains(out.String(), `"n":1`) {
		t.Errorf("got %s", out.String())
	}
}

func TestTheFirstValuesAreGivenUpOverTheBound(t *testing.T) {
	t.Parallel()
	v := veil.New()
	for i := range 12 {
		values := make([]string, 256)
		for j := range values {
			values[j] = fmt.Sprintf("%04d-%03d-%s", i, j, strings.Repeat("x", 4096))
		}
		v.Note(values)
	}
	if first := "0000-000-" + strings.Repeat("x", 4096); v.Text(first) != first {
		t.Error("more is known than the bound allows")
	}
	if last := "0011-255-" + strings.Repeat("x", 4096); v.Text(last) == last {
		t.Error("what was noted last is not known")
	}
}

func TestADocumentKeepsItsForm(t *testing.T) {
	t.Parallel()
	v := veil.New()
	v.Note([]string{"2026-11-28T03:13:25Z", "plum-Tree-4711", "12345678901"})
	in := `{"at":"2026-11-28T03:13:25Z","n":12345678901,"m":7.50,"texts":["a plum-Tree-4711 b",null,true],"plum-Tree-4711":{"x":"\u003cb\u003e"}}`
	var got, want any
	if err := json.Unmarshal(v.Document([]byte(in)), &got); err != nil {
		t.Fatal(err)
	}
	hidden := strings.TrimPrefix(strings.TrimSuffix(string(v.Document([]byte("a plum-Tree-4711 b"))), " b"), "a ")
	if hidden == "" || strings.Contains(hidden, "plum") {
		t.Fatalf("it is hidden as %q", hidden)
	}
	out := fmt.Sprintf(`{"at":"2026-11-28T03:13:25Z","n":%q,"m":7.50,"texts":["a %s b",null,true],%q:{"x":"<b>"}}`, hidden, hidden, hidden)
	if err := json.Unmarshal([]byte(out), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
