package registry

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olareg/olareg"
	"github.com/olareg/olareg/config"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// corpusChart is a chart as its authors keep it.
type corpusChart struct {
	name, dir string
	meta      chartFile
	asked     map[string]bool // its own version and those that others name
}

// chartFile is what the tests read of Chart.yaml and Chart.lock.
type chartFile struct {
	Name, Version string
	Dependencies  []struct{ Name, Version, Repository string }
}

// corpusCharts finds the charts below root, one for each name: the first by path.
func corpusCharts(t *testing.T, root string) []*corpusChart {
	t.Helper()
	byName := map[string]*corpusChart{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "Chart.yaml" {
			return err
		}
		c := &corpusChart{dir: filepath.Dir(name), meta: readChart(t, name), asked: map[string]bool{}}
		c.name = c.meta.Name
		c.asked[c.meta.Version] = true
		if byName[c.name] == nil && !strings.Contains(strings.TrimPrefix(c.dir, root), "/charts/"+filepath.Base(c.dir)+"/charts/") {
			byName[c.name] = c
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.SortedFunc(maps.Values(byName), func(a, b *corpusChart) int { return strings.Compare(a.name, b.name) })
	for _, c := range all {
		wanted := c.meta.Dependencies
		if lock := filepath.Join(c.dir, "Chart.lock"); exists(lock) {
			wanted = append(wanted, readChart(t, lock).Dependencies...)
		}
		for _, d := range wanted {
			if of := byName[d.Name]; of != nil && exact.MatchString(d.Version) {
				of.asked[d.Version] = true
			}
		}
	}
	return all
}

// exact matches a version that is no range.
var exact = regexp.MustCompile(`^\d+\.\d+\.\d+[-+\w.]*$`)

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func readChart(t *testing.T, name string) (c chartFile) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, &c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// world is what the addresses of a corpus lead to. Nothing but a proxy leads there, and nothing leaves this process. Each repository
// has every chart of the corpus, in the version that the corpus has and in those that charts name.
type world struct {
	addresses []string // of repositories and registries
	hosts     []string
	proxy     string

	authority     []byte // PEM
	authorityFile string

	charts map[string][]byte // archives, by file name
	index  []byte
	dir    string
	mu     sync.Mutex
	homes  map[string]string // of Helm in dir, by program
}

// publish starts a world of charts.
func publish(t *testing.T, charts []*corpusChart) *world {
	t.Helper()
	w := &world{charts: map[string][]byte{}, dir: t.TempDir(), homes: map[string]string{}}
	for _, c := range charts {
		for _, d := range c.meta.Dependencies {
			u, err := url.Parse(d.Repository)
			if err == nil && u.Scheme != "file" && u.Host != "" && !slices.Contains(w.addresses, d.Repository) {
				w.addresses, w.hosts = append(w.addresses, d.Repository), append(w.hosts, u.Hostname())
			}
		}
	}
	w.pack(t, charts)
	store := olareg.New(config.Config{Storage: config.ConfigStorage{StoreType: config.StoreMem}, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { _ = store.Close() })
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		switch name := path.Base(req.URL.Path); {
		case strings.HasPrefix(req.URL.Path, "/v2/"):
			store.ServeHTTP(rw, req)
		case name == "index.yaml":
			_, _ = rw.Write(w.index)
		case w.charts[name] != nil:
			_, _ = rw.Write(w.charts[name])
		default:
			http.NotFound(rw, req)
		}
	}))
	certificate := w.certify(t)
	front.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	front.StartTLS()
	t.Cleanup(front.Close)
	w.proxy = testenv.Tunnel(t, front.Listener.Addr().String())
	inside := &server{Server: httptest.NewTLSServer(store)}
	t.Cleanup(inside.Close)
	for _, address := range w.addresses {
		below, isRegistry := strings.CutPrefix(address, "oci://")
		if !isRegistry {
			continue
		}
		_, below, _ = strings.Cut(below, "/")
		for _, c := range charts {
			for version := range c.asked {
				push(t, inside, path.Join(below, c.name), strings.ReplaceAll(version, "+", "_"), chart, w.charts[c.name+"-"+version+".tgz"], nil)
			}
		}
	}
	return w
}

// pack makes the archives and the index of what the world has. As what is published, an archive has its dependencies in it.
func (w *world) pack(t *testing.T, charts []*corpusChart) {
	t.Helper()
	byName := map[string]*corpusChart{}
	for _, c := range charts {
		byName[c.name] = c
	}
	type release struct {
		APIVersion string   `json:"apiVersion"`
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Digest     string   `json:"digest"`
		URLs       []string `json:"urls"`
	}
	entries := map[string][]release{}
	for _, c := range charts {
		for version := range c.asked {
			name := c.name + "-" + version + ".tgz"
			w.charts[name] = c.archive(t, version, byName, 0)
			entries[c.name] = append(entries[c.name], release{"v2", c.name, version, fmt.Sprintf("%x", sha256.Sum256(w.charts[name])), []string{name}})
		}
	}
	var err error
	if w.index, err = yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": entries}); err != nil {
		t.Fatal(err)
	}
}

// archive makes the archive of a chart as if a version of it were published.
func (c *corpusChart) archive(t *testing.T, version string, all map[string]*corpusChart, depth int) []byte {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(c.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(c.dir, name))
		if name == "Chart.yaml" {
			raw = ownVersion.ReplaceAll(raw, []byte("version: "+version))
		}
		files[c.name+"/"+name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.meta.Dependencies {
		if of := all[d.Name]; of != nil && depth < 4 {
			files[c.name+"/charts/"+d.Name+".tgz"] = string(of.archive(t, of.meta.Version, all, depth+1))
		}
	}
	return testenv.TarGzip(t, files)
}

// ownVersion matches the version of a chart in its Chart.yaml.
var ownVersion = regexp.MustCompile(`(?m)^version:.*$`)

// certify makes an authority and a certificate for all hosts of the world.
func (w *world) certify(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: w.hosts, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	w.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	w.authorityFile = inFile(t, "ca.pem", string(w.authority))
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// home is a directory of Helm that knows the repositories of the world.
func (w *world) home(t *testing.T, program string) string {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.homes[program] == "" {
		w.homes[program] = filepath.Join(w.dir, filepath.Base(program))
		for i, address := range w.addresses {
			if strings.HasPrefix(address, "oci://") {
				continue
			}
			if _, said, err := w.start(t, w.homes[program], program, "repo", "add", fmt.Sprint("r", i), address); err != nil {
				t.Fatalf("repo add %s: %s", address, said)
			}
		}
	}
	return w.homes[program]
}
