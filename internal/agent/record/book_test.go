package record_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/record"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func open(t testing.TB, dir string, change ...func(*record.Config)) *record.Book {
	t.Helper()
	cfg := record.Config{Dir: dir, Key: func() []byte { return []byte("key of this agent") }, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&cfg)
	}
	b, err := record.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func manifest(t testing.TB, text string) object.Manifest {
	t.Helper()
	obj, err := object.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := object.NewManifest(obj)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func configMap(name, value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"shop"},"data":{"x":%q}}`, name, value)
}

// add records an operation that rendered some objects.
func add(t testing.TB, b *record.Book, id string, objects ...string) {
	t.Helper()
	d := &api.LedgerDetail{LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: "web", Revision: id}}
	for _, text := range objects {
		m := manifest(t, text)
		c := b.Keep("https://cluster", m, false)
		d.Objects = append(d.Objects, api.LedgerObject{
			LedgerKey: api.LedgerKey{Kind: m.Key.Kind, Namespace: m.Key.Namespace, Name: m.Key.Name}, Hash: hex.EncodeToString(c[:]),
		})
	}
	b.Add(id, d)
}

// server is one that takes records.
type server struct {
	t        testing.TB
	entries  map[string]api.LedgerDetail
	order    []string
	contents map[string]string
	healthy  map[string]time.Time
	lost     int
	messages int
}

func newServer(t testing.TB) *server {
	t.Helper()
	return &server{t: t, entries: map[string]api.LedgerDetail{}, contents: map[string]string{}, healthy: map[string]time.Time{}}
}

func unpack(t testing.TB, data []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	out, err := d.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// take answers a message.
func (s *server) take(in *agentapi.Records) (ack agentapi.RecordAck) {
	s.t.Helper()
	s.messages++
	if raw, err := json.Marshal(in); err != nil || len(raw) > agentapi.MaxMessage {
		s.t.Fatalf("a message has %d bytes (%v)", len(raw), err)
	}
	for _, c := range in.Contents {
		raw := unpack(s.t, c.Body)
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != c.Hash {
			s.t.Errorf("a content is not that of its hash: %s", raw)
		}
		if _, twice := s.contents[c.Hash]; twice {
			s.t.Errorf("a content is sent twice: %s", raw)
		}
		s.contents[c.Hash] = string(raw)
	}
	for _, r := range in.Records {
		var d api.LedgerDetail
		if err := json.Unmarshal(unpack(s.t, r.Body), &d); err != nil {
			s.t.Fatal(err)
		}
		if _, twice := s.entries[r.ID]; !twice {
			s.entries[r.ID] = d
			s.order = append(s.order, r.ID)
			s.lost += r.Lost
		}
		for _, o := range d.Objects {
			if _, there := s.contents[o.Hash]; !there && !slices.Contains(ack.Lacks, o.Hash) {
				ack.Lacks = append(ack.Lacks, o.Hash)
			}
		}
	}
	for _, h := range in.Healthy {
		s.healthy[h.ID] = h.At
	}
	for _, id := range in.Known {
		if _, there := s.entries[id]; !there {
			ack.Unknown = append(ack.Unknown, id)
		}
	}
	return ack
}

// drain takes all that there is, at most limit messages.
func (s *server) drain(b *record.Book, limit int) {
	s.t.Helper()
	for range limit {
		in := b.Next()
		if in == nil {
			return
		}
		b.Answered(in, s.take(in))
	}
}

func TestEachContentIsSentOnce(t *testing.T) {
	t.Parallel()
	b, s := open(t, t.TempDir()), newServer(t)
	b.Begin()
	add(t, b, "01", configMap("a", "1"), configMap("b", "1"))
	add(t, b, "02", configMap("a", "2"), configMap("b", "1"))
	s.drain(b, 100)
	add(t, b, "03", configMap("a", "1"), configMap("b", "1"))
	at := time.Now()
	b.Healthy("03", at)
	s.drain(b, 100)
	if diff := cmp.Diff([]string{"01", "02", "03"}, s.order); diff != "" || len(s.contents) != 3 || s.lost != 0 {
		t.Errorf("%d contents, %d lost, entries (-want +got)\n%s", len(s.contents), s.lost, diff)
	}
	if !s.healthy["03"].Equal(at) {
		t.Errorf("healthy: %v", s.healthy)
	}
	if n := b.Stats().Entries; n != 0 {
		t.Errorf("%d entries wait", n)
	}
}

func sizeOf(t testing.TB, _ *record.Book, dir string) int64 {
	t.Helper()
	if dir == "" {
		return 0
	}
	var n int64
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatWaitsOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newServer(t)
	b := open(t, dir)
	for i := range 200 {
		add(t, b, fmt.Sprintf("%02x", i), configMap("a", fmt.Sprint(i)), configMap("b", "same"))
		if i%20 == 0 { // and each process ends somewhere in the middle of telling
			b.Begin()
			s.drain(b, i/20%4)
			b = open(t, dir)
		}
	}
	b.Begin()
	s.drain(b, 1000)
	if len(s.order) != 200 || len(s.contents) != 201 || s.lost != 0 {
		t.Errorf("%d entries and %d contents arrived, %d were lost", len(s.order), len(s.contents), s.lost)
	}
	if !slices.IsSorted(s.order) {
		t.Errorf("not in order: %v", s.order)
	}
	if n := sizeOf(t, b, dir); n != 0 {
		t.Errorf("%d bytes are left on disk", n)
	}
}

func TestACutOffFrameCountsForNothing(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newServer(t)
	b := open(t, dir)
	add(t, b, "01", configMap("a", "1"))
	add(t, b, "02", configMap("a", "2"))
	files, err := filepath.Glob(dir + "/entries-*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], raw[:len(raw)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir)
	add(t, b, "03", configMap("a", "3"))
	s.drain(b, 100)
	if diff := cmp.Diff([]string{"01", "03"}, s.order); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheDiskIsBoundedAndContentsGoFirst(t *testing.T) {
	t.Parallel()
	const limit = 3 << 20
	dir, s := t.TempDir(), newServer(t)
	b := open(t, dir, func(c *record.Config) { c.Limit = limit })
	noise := make([]byte, 60<<10) // does not compress
	for i := range 100 {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		for at := 0; at < len(noise); at += len(sum) {
			copy(noise[at:], sum[:])
			sum = sha256.Sum256(sum[:])
		}
		add(t, b, fmt.Sprintf("%04x", i), configMap("a", hex.EncodeToString(noise)))
		if n := sizeOf(t, b, dir); n > limit+2<<20 {
			t.Fatalf("%d bytes on disk, with a limit of %d", n, limit)
		}
	}
	s.drain(b, 10_000)
	if len(s.order) != 100 || s.lost == 0 || s.lost+len(s.contents) != 100 {
		t.Errorf("%d entries arrived, with %d contents, and %d are said to be lost", len(s.order), len(s.contents), s.lost)
	}
}

const secret = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q,"namespace":"shop","annotations":{` +
	`"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"password\":\"planted-secret\"}}","vault/token":"planted-secret","team":"shop"}},` +
	`"type":"Opaque","data":{"password":"cGxhbnRlZC1zZWNyZXQ=","same":%q},"stringData":{"clear":"planted-secret"},"datta":{"x":"planted-secret"}}`

func TestNoSecretLeavesAndEqualValuesAreSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, dir, func(c *record.Config) {
		c.Hidden = func() []string { return []string{"vault/token"} }
		c.Clean = func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte("known-token"), []byte("***")) }
	})
	s := newServer(t)
	texts := []string{
		fmt.Sprintf(secret, "a", "MQ=="), fmt.Sprintf(secret, "a", "Mg=="), fmt.Sprintf(secret, "b", "MQ=="),
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"planted-secret"}},"data":{"x":"known-token"}}`,
	}
	add(t, b, "01", texts...)
	onDisk := ""
	for _, pattern := range []string{"/entries-*", "/contents-*"} {
		files, err := filepath.Glob(dir + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			onDisk += string(raw)
		}
	}
	s.drain(b, 10)
	all := onDisk
	values := map[string]map[string]any{} // by name and the value of same
	for i, o := range s.entries["01"].Objects {
		text := s.contents[o.Hash]
		all += text
		if i == 3 {
			continue
		}
		var obj struct {
			Data     map[string]any
			Metadata struct{ Annotations map[string]string }
		}
		if err := json.Unmarshal([]byte(text), &obj); err != nil {
			t.Fatal(err)
		}
		if obj.Metadata.Annotations["team"] != "shop" {
			t.Errorf("an annotation that is no secret is gone: %s", text)
		}
		values[fmt.Sprint(i)] = obj.Data
	}
	for _, planted := range []string{"planted-secret", "cGxhbnRlZC1zZWNyZXQ", "known-token"} {
		if strings.Contains(all, planted) {
			t.Errorf("%s is in what leaves the agent, or in its files", planted)
		}
	}
	if values["0"]["password"] != values["1"]["password"] || values["0"]["same"] == values["1"]["same"] {
		t.Errorf("equal values of one object are not seen as equal, or different ones not as different: %v", values)
	}
	if values["0"]["same"] == values["2"]["same"] {
		t.Error("a value can be found by trying it in another Secret")
	}
}

func TestOfWhatIsNotFromGitNothingIsTold(t *testing.T) {
	t.Parallel()
	b, s := open(t, t.TempDir()), newServer(t)
	m := manifest(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","labels":{"x":"planted-secret"}},"data":{"x":"planted-secret"}}`)
	c := b.Keep("https://cluster", m, true)
	b.Add("01", &api.LedgerDetail{LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: "web"}, Objects: []api.LedgerObject{{Hash: hex.EncodeToString(c[:])}}})
	s.drain(b, 10)
	text := s.contents[hex.EncodeToString(c[:])]
	if strings.Contains(text, "planted-secret") || !strings.Contains(text, `"namespace":"shop"`) {
		t.Errorf("a local manifest is told as %s", text)
	}
}

func TestTheServerIsAskedAboutWhatWasOverBefore(t *testing.T) {
	t.Parallel()
	b, s := open(t, t.TempDir()), newServer(t)
	s.entries["0a"] = api.LedgerDetail{}
	var missing []string
	at := time.Now()
	for _, id := range []string{"0a", "0b"} {
		b.Ask([]record.Check{{ID: id, Healthy: at, Missing: func() {
			missing = append(missing, id)
			add(t, b, id)
		}}})
	}
	s.drain(b, 10)
	if diff := cmp.Diff([]string{"0b"}, missing); diff != "" || len(s.entries) != 2 || !s.healthy["0a"].Equal(at) {
		t.Errorf("healthy %v, missing (-want +got)\n%s", s.healthy, diff)
	}
}

func TestAnEntryThatIsTooLargeSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	b, s := open(t, t.TempDir()), newServer(t)
	d := &api.LedgerDetail{LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: "web"}}
	for i := range 12_000 {
		sum := sha256.Sum256([]byte(fmt.Sprint(i)))
		d.Objects = append(d.Objects, api.LedgerObject{LedgerKey: api.LedgerKey{Kind: "ConfigMap", Name: fmt.Sprintf("%x%x", sum, sha256.Sum256(sum[:]))}, Hash: hex.EncodeToString(sum[:])})
	}
	b.Add("01", d)
	s.drain(b, 10)
	got := s.entries["01"]
	if len(got.Objects) == 0 || len(got.Objects) == len(d.Objects) || len(got.Notes) != 1 {
		t.Errorf("%d of %d objects arrived, with the notes %q", len(got.Objects), len(d.Objects), got.Notes)
	}
}

// BenchmarkASyncOfTenObjects is what the ledger adds to an operation of ten objects, all of which were changed.
func BenchmarkASyncOfTenObjects(b *testing.B) {
	book, s := open(b, b.TempDir()), newServer(b)
	manifests := make([]object.Manifest, 10)
	n := 0
	for b.Loop() {
		b.StopTimer()
		for i := range manifests {
			manifests[i] = manifest(b, configMap(fmt.Sprint("web-", i), strings.Repeat("value of some length ", 30)+fmt.Sprint(n)))
		}
		n++
		b.StartTimer()
		d := &api.LedgerDetail{LedgerEntry: api.LedgerEntry{Namespace: "argocd", Name: "web", Revision: fmt.Sprint(n)}}
		for _, m := range manifests {
			c := book.Keep("https://cluster", m, false)
			key := api.LedgerKey{Kind: m.Key.Kind, Namespace: m.Key.Namespace, Name: m.Key.Name}
			d.Objects = append(d.Objects, api.LedgerObject{LedgerKey: key, Hash: hex.EncodeToString(c[:])})
			d.Changes = append(d.Changes, api.LedgerChange{LedgerKey: key, Verb: api.LedgerChanged, Outcome: "Succeeded", Message: "configmap/web configured"})
		}
		book.Add(fmt.Sprintf("%016x", n), d)
		if n%100 == 0 {
			b.StopTimer()
			s.drain(book, 1000)
			b.StartTimer()
		}
	}
}
