package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

func pack(t *testing.T, raw []byte) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(raw, nil)
}

func TestWhatCannotBeARecordIsRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hash := strings.Repeat("ab", sha256.Size)
	key := api.LedgerKey{Kind: "ConfigMap", Name: "a"}
	for _, tt := range []struct {
		name, want string
		id         string
		change     func(*api.LedgerDetail)
		body       []byte
	}{
		{name: "a proper one"},
		{name: "an id that is none", id: "../x", want: "the id"},
		{name: "no zstd", body: []byte("{}"), want: "unpacked"},
		{name: "a bomb", body: pack(t, make([]byte, agentapi.MaxRecordJSON+1)), want: "too large"},
		{name: "a bomb in parts", body: bytes.Repeat(pack(t, make([]byte, agentapi.MaxRecordJSON/4)), 5), want: "too large"},
		{name: "so many values that they are one", body: pack(t, []byte(`{"sources":[`+strings.Repeat("{},", 1<<20)+`{}]}`)), want: "values"},
		{name: "no JSON", body: pack(t, []byte("no")), want: "JSON"},
		{name: "another shape", body: pack(t, []byte(`{"objects":1}`)), want: "shape"},
		{name: "the character NUL in a message", change: func(d *api.LedgerDetail) { d.Changes[0].Outcome = "a\x00" + strings.Repeat("x", 1000) }},
		{name: "no name", change: func(d *api.LedgerDetail) { d.Name = "" }, want: "name"},
		{name: "a name with a line break", change: func(d *api.LedgerDetail) { d.Name = "a\nb" }, want: "name"},
		{name: "an operation that goes on", change: func(d *api.LedgerDetail) { d.Phase = "Running" }, want: "phase"},
		{name: "an action that nobody knows", change: func(d *api.LedgerDetail) { d.Action = "x" }, want: "action"},
		{name: "no end", change: func(d *api.LedgerDetail) { d.FinishedAt = time.Time{} }, want: "times"},
		{name: "a hash that is none", change: func(d *api.LedgerDetail) { d.Objects[0].Hash = "x" }, want: "hash"},
		{name: "a key that is two", change: func(d *api.LedgerDetail) { d.Objects[0].Name = "a/b" }, want: "cannot be"},
		{name: "a verb that nobody knows", change: func(d *api.LedgerDetail) { d.Changes[0].Verb = "x" }, want: "cannot be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := api.LedgerDetail{
				LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: "web", Action: api.LedgerSync, Phase: "Succeeded", StartedAt: now, FinishedAt: now.Add(24 * time.Hour)},
				Objects:     []api.LedgerObject{{LedgerKey: key, Hash: hash, Images: []string{"claimed"}}},
				Changes:     []api.LedgerChange{{LedgerKey: key, Verb: api.LedgerChanged, Outcome: strings.Repeat("x", 1000)}},
			}
			if tt.change != nil {
				tt.change(&d)
			}
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			r := agentapi.Record{ID: "0a", Body: pack(t, raw), Lost: 2}
			if tt.body != nil {
				r.Body = tt.body
			}
			if tt.id != "" {
				r.ID = tt.id
			}
			left := maxUnpacked
			got, err := readRecord(r, now, &left)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if err != nil {
				return
			}
			if got.FinishedAt.After(now.Add(clockAhead)) || len(got.Changes[0].Outcome) > 40 || got.Objects[0].Images != nil || len(got.Notes) != 1 {
				t.Errorf("taken as it is: %+v", got)
			}
		})
	}
}

func TestAContentIsThatOfItsHash(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"spec":{"template":{"spec":{"initContainers":[{"image":"i:1"}],"containers":[{"image":"c:1"},{"image":"c:1"}]}}}}`)
	sum := sha256.Sum256(raw)
	left := maxContents
	got, err := readContent(agentapi.Content{Hash: hex.EncodeToString(sum[:]), Body: pack(t, raw)}, &left)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"i:1", "c:1"}, got.Images); diff != "" || got.Size != len(raw) {
		t.Errorf("size %d, images (-want +got)\n%s", got.Size, diff)
	}
	for name, body := range map[string][]byte{
		"another content": pack(t, []byte(`{}`)), "a bomb": pack(t, bytes.Repeat([]byte(" "), agentapi.MaxContent+1)), "no zstd": raw,
	} {
		if _, err := readContent(agentapi.Content{Hash: hex.EncodeToString(sum[:]), Body: body}, &left); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, odd := range []string{`{"spec":1}`, `{"spec":{"containers":"x"}}`, `[]`, `{"spec":{"template":null}}`} {
		if images := imagesOf([]byte(odd)); images != nil {
			t.Errorf("images of %s: %v", odd, images)
		}
	}
	if many := imagesOf(fmt.Appendf(nil, `{"spec":{"containers":[%s{"image":"x"}]}}`, strings.Repeat(`{"image":"a"},`, 1000))); len(many) != 2 {
		t.Errorf("%d images", len(many))
	}
}

func TestWhatAMessageUnpacksToIsBoundedForAllOfIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	// Nothing but blanks around it: a few kilobytes each.
	raw := fmt.Appendf(nil, `{"namespace":"argocd","name":"web","action":"sync","phase":"Succeeded","startedAt":%q,"finishedAt":%[1]q}`, now.Format(time.RFC3339))
	body := pack(t, append(raw, bytes.Repeat([]byte(" "), agentapi.MaxRecordJSON-len(raw))...))
	left, taken := maxUnpacked, 0
	for range agentapi.MaxRecords {
		if _, err := readRecord(agentapi.Record{ID: "0a", Body: body}, now, &left); err == nil {
			taken++
		} else if !strings.Contains(err.Error(), "the message is too large") {
			t.Fatal(err)
		}
	}
	if taken != maxUnpacked/agentapi.MaxRecordJSON {
		t.Errorf("%d records of one message are taken, of %d bytes each", taken, agentapi.MaxRecordJSON)
	}
}

// FuzzRecord: whatever an agent sends is refused, or becomes an entry within all bounds, which says the same when it is read
// again.
func FuzzRecord(f *testing.F) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, seed := range []string{
		`{"namespace":"argocd","name":"web","action":"sync","phase":"Succeeded","startedAt":"2026-03-01T11:00:00Z","finishedAt":"2026-03-01T11:00:01Z",` +
			`"commit":{"author":"a","subject":"b","committedAt":"2026-03-01T10:00:00Z"},"options":{"syncOptions":["a=b"],"resources":["v1/ConfigMap"]},` +
			`"sources":[{"repoURL":"https://git.example.org/a"}],"decisions":[{"gate":"guard","outcome":"allowed","message":"x"}],"notes":["n"],` +
			`"objects":[{"kind":"ConfigMap","namespace":"shop","name":"a","hash":"` + strings.Repeat("ab", sha256.Size) + `","images":["x"]}],` +
			`"changes":[{"kind":"ConfigMap","name":"a","verb":"created","outcome":"Succeeded","hook":"PreSync","message":"m"}]}`,
		`{"name":"` + strings.Repeat("x", 300) + `"}`, `[]`, `{"sources":[null],"commit":{},"options":{}}`, `{"finishedAt":"9999-12-31T23:59:59Z"}`,
	} {
		f.Add([]byte(seed))
	}
	encode, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = encode.Close() })
	read := func(raw []byte) (*api.LedgerDetail, error) {
		left := maxUnpacked
		return readRecord(agentapi.Record{ID: "0a", Body: encode.EncodeAll(raw, nil)}, now, &left)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := read(raw)
		if err != nil {
			return
		}
		if got.FinishedAt.After(now.Add(clockAhead)) || len(got.Objects) > api.MaxLedgerObjects || len(got.Message) > agentapi.MaxText || len(got.Reason) > agentapi.MaxText {
			t.Errorf("taken as it is: %+v", got)
		}
		once, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("it cannot be written: %v", err)
		}
		again, err := read(once)
		if err != nil {
			t.Fatalf("what was taken is refused: %v: %s", err, once)
		}
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("what was taken is read as something else (-was +is)\n%s", diff)
		}
	})
}
