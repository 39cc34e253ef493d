package live

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// seen is an object as a watch delivers it.
func seen(name, app string, owned bool, version uint64) observation {
	key := keyMap(name)
	return observation{rec: Record{Key: key, UID: name, Version: version, App: app, Owned: owned}}
}

func names(keys []object.Key) []string {
	out := []string{}
	for _, k := range keys {
		out = append(out, k.Name)
	}
	slices.Sort(out)
	return out
}

func TestKindsThatAreExcludedAreNotWatched(t *testing.T) {
	t.Parallel()
	secrets, maps := object.Kind{Kind: "Secret"}, object.Kind{Kind: "ConfigMap"}
	excluded, err := diff.ParseExclusions(map[string]string{diff.KeyExclusions: "[{kinds: [Secret]}]"})
	if err != nil {
		t.Fatal(err)
	}
	config := testenv.Cluster(t)
	c, err := Open(t.Context(), Config{
		Server: config.Host, REST: config, Log: slog.New(slog.DiscardHandler), Notify: func(Event) {}, Excluded: excluded,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	missing, err := c.WatchNamespaced(t.Context(), func(k object.Kind) bool { return k == secrets || k == maps })
	if err != nil || len(missing) > 0 {
		t.Fatalf("%v, %v", missing, err)
	}
	if c.Version(maps) == "" || c.Version(secrets) != "" {
		t.Errorf("watched are ConfigMaps at %q and Secrets at %q", c.Version(maps), c.Version(secrets))
	}
	res, err := c.Find(t.Context(), secrets, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Watch(t.Context(), res); err == nil || !strings.Contains(err.Error(), diff.KeyExclusions) {
		t.Errorf("%v", err)
	}
}

func TestStraysAreWhatNobodyTracksOrOwns(t *testing.T) {
	t.Parallel()
	var told []Event
	c := &Cluster{index: newIndex(func(e Event) { told = append(told, e) })}
	exists := func(app string) bool { return app == "shop" }
	c.index.observe(seen("loose", "", false, 1))
	c.index.observe(seen("child", "", true, 2))
	c.index.observe(seen("ours", "shop", false, 3))
	c.index.observe(seen("left", "gone", false, 4))
	expect := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, names(c.Strays("default", "shop", exists))); diff != "" {
			t.Error(diff)
		}
	}
	expect("left", "loose")
	c.Claim(keyMap("loose"), "shop")
	expect("left")
	c.Release(keyMap("loose"), "shop")
	told = nil
	c.index.observe(seen("new", "", false, 5))
	c.index.observe(seen("loose", "", true, 6))
	c.index.observe(seen("new", "shop", false, 7))
	c.index.remove(keyMap("child"), "", 8)
	c.index.observe(seen("last", "", false, 9))
	c.index.remove(keyMap("last"), "", 10)
	expect("left")
	var strayed []string
	for _, e := range told {
		if e.Why == Stray {
			strayed = append(strayed, e.App+" "+e.Key.Name)
		}
	}
	// That it took "new" over itself is no news to it, beside that it appeared.
	if diff := cmp.Diff([]string{"shop new", "shop loose", "shop last", "shop last"}, strayed); diff != "" {
		t.Error(diff)
	}
	c.ForgetStrays("shop")
	told = nil
	c.index.observe(seen("unheard", "", false, 11))
	if len(told) > 0 || len(c.index.strays) > 0 {
		t.Errorf("told of %v, kept %v", told, c.index.strays)
	}
	c.Strays("elsewhere", "shop", exists)
	expect("left", "unheard")
	if len(c.index.strays) != 1 {
		t.Errorf("it hears of %v", c.index.strays)
	}
}

func TestATokenOfAServiceAccountBelongsToIt(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"kubernetes.io/service-account-token": true, "Opaque": false} {
		rec := describe(object.Kind{Kind: "Secret"}, map[string]any{"type": kind, "metadata": map[string]any{"name": "a", "namespace": "b"}}, object.Tracking{})
		if rec.Owned != want {
			t.Errorf("%s is owned: %v", kind, rec.Owned)
		}
	}
}

func TestStraysAreTheSameAsIfTheyWereCountedAnew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		x := newIndex(func(Event) {})
		x.askStrays("default", "shop")
		for version := range uint64(40) {
			name := fmt.Sprint(rapid.IntRange(0, 5).Draw(r, "name"))
			if rapid.IntRange(0, 4).Draw(r, "gone") == 0 {
				x.remove(keyMap(name), "", version+1)
			} else {
				x.observe(seen(name, rapid.SampledFrom([]string{"", "", "shop", "other"}).Draw(r, "app"), rapid.Bool().Draw(r, "owned"), version+1))
			}
		}
		kept := names(x.askStrays("default", "shop"))
		x.dropStrays("shop", "")
		if diff := cmp.Diff(names(x.askStrays("default", "shop")), kept); diff != "" {
			r.Fatal(diff)
		}
	})
}
