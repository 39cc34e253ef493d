package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// keeping is an agent beside an Argo CD, as far as it keeps settings. What it knows of them is of no use: its watch is late. Its
// first write waits for those of others in meet, so that each was checked before any is written; nil: it waits for nobody.
func keeping(t *testing.T, ns string, meet *sync.WaitGroup) map[agentapi.Kind]link.Executor {
	t.Helper()
	config := rest.CopyConfig(testenv.Cluster(t))
	if meet != nil {
		var once sync.Once // a Secret that is taken back is written again
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return place.RoundTripper(func(req *http.Request) (*http.Response, error) {
				if req.Method == http.MethodPost || req.Method == http.MethodPut {
					once.Do(func() {
						meet.Done()
						meet.Wait()
					})
				}
				return next.RoundTrip(req)
			})
		})
	}
	apps, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return Executors(Config{Apps: apps, Namespace: ns, Settings: place.NewSettings(nil), Now: time.Now, ReadBy: agentapi.EngineArgoCD})
}

// put writes a setting.
func put(t *testing.T, run map[agentapi.Kind]link.Executor, change agentapi.SettingChange) error {
	t.Helper()
	raw, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	_, err = run[agentapi.KindSettingsApply](t.Context(), agentapi.Command{ID: "c", Agent: "abcdefghijklmnopqrstuvwxyz", Kind: agentapi.KindSettingsApply, Body: raw, User: "user:anna"})
	return err
}

func TestOfSettingsForOneAddressThatAreWrittenAtTheSameMomentOneIsKept(t *testing.T) {
	t.Parallel()
	repo := func(project, url string) map[string]string { return map[string]string{"url": url, "project": project} }
	edge := func(project, server string) map[string]string {
		return map[string]string{"server": server, "name": project, "project": project}
	}
	for _, c := range []struct {
		name   string
		kind   agentapi.SettingType
		field  string
		fields func(project, address string) map[string]string
	}{
		{"repositories", agentapi.SettingRepository, "url", repo},
		{"templates", agentapi.SettingRepoCreds, "url", repo},
		{"clusters", agentapi.SettingCluster, "server", edge},
	} {
		for _, move := range []bool{false, true} {
			for _, agents := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s, move %v, agents %d", c.name, move, agents), func(t *testing.T) {
					t.Parallel()
					ns := testenv.Namespace(t)
					setting := func(i int, address string) agentapi.SettingChange {
						project := fmt.Sprint("project-", i)
						return agentapi.SettingChange{Type: c.kind, Name: fmt.Sprint("setting-", i), Judged: &agentapi.Judged{To: project}, Fields: c.fields(project, address)}
					}
					const both = 2
					if move {
						for i := range both {
							if err := put(t, keeping(t, ns, nil), setting(i, fmt.Sprintf("https://own-%d.example.org/a", i))); err != nil {
								t.Fatal(err)
							}
						}
					}
					var keepers []map[agentapi.Kind]link.Executor
					if agents == 1 {
						one := keeping(t, ns, nil)
						keepers = []map[agentapi.Kind]link.Executor{one, one}
					} else {
						meet := &sync.WaitGroup{}
						meet.Add(both)
						keepers = []map[agentapi.Kind]link.Executor{keeping(t, ns, meet), keeping(t, ns, meet)}
					}
					var g errgroup.Group
					errs := make([]error, both)
					for i := range both {
						g.Go(func() error {
							errs[i] = put(t, keepers[i], setting(i, "https://shared.example.org/a"))
							return nil
						})
					}
					_ = g.Wait()
					list, err := secretsIn(t, ns).List(t.Context(), metav1.ListOptions{LabelSelector: v1alpha1.LabelSecretType})
					if err != nil {
						t.Fatal(err)
					}
					kept := map[string]string{}
					for i := range list.Items {
						kept[list.Items[i].GetName()] = string(place.SecretOf(&list.Items[i]).Data[c.field])
					}
					won := 0
					for i, err := range errs {
						name := fmt.Sprint("setting-", i)
						var refusal *agentapi.Error
						switch {
						case err == nil:
							won++
							if kept[name] != "https://shared.example.org/a" {
								t.Errorf("%s was accepted and is at %q", name, kept[name])
							}
						case !errors.As(err, &refusal) || refusal.Code != agentapi.CodeConflict || !strings.Contains(refusal.Message, "by the address alone"):
							t.Errorf("%s: %v", name, err)
						case move && kept[name] != fmt.Sprintf("https://own-%d.example.org/a", i) || !move && kept[name] != "":
							t.Errorf("%s was refused and is at %q", name, kept[name])
						}
					}
					if won != 1 {
						t.Errorf("%d of %d won: %v", won, both, errs)
					}
				})
			}
		}
	}
}

// secretsIn are the Secrets of a namespace.
func secretsIn(t *testing.T, ns string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(ns)
}
