package place

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/outward"
)

// asks sends a request through a pulse to what answers with a status, or an error, after a time.
func asks(t *testing.T, p *pulse, path string, status int, wrong error, after time.Duration) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	begun := time.Now()
	var resp *http.Response
	if wrong == nil {
		resp = &http.Response{StatusCode: status}
	}
	<-time.After(after)
	p.note(req, resp, wrong, begun, time.Now())
}

func TestAPulseIsWhatTheLastRequestsSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		if c, _ := p.condition(); c != (Condition{}) {
			t.Errorf("known without a request: %+v", c)
		}
		for _, after := range []time.Duration{40, 20, 30} {
			asks(t, &p, "/api/v1/namespaces/a/configmaps", 200, nil, after*time.Millisecond)
		}
		asks(t, &p, "/api/v1/namespaces/a/configmaps?watch=true", 200, nil, time.Second)
		if c, _ := p.condition(); c.Reach != Reachable || c.Latency != 30*time.Millisecond || !c.At.Equal(time.Now()) || c.Why != "" {
			t.Errorf("%+v", c)
		}
		<-time.After(time.Second)
		for _, test := range []struct {
			status int
			err    error
			want   string
		}{
			{401, nil, "refuses the credentials"},
			{503, nil, "503"},
			{0, &silenced{errors.New("secret words")}, "not what was expected"},
			{0, &silenced{context.DeadlineExceeded}, "no answer in time"},
		} {
			asks(t, &p, "/version", test.status, test.err, time.Millisecond)
			if c, _ := p.condition(); c.Reach != Unreachable || !strings.Contains(c.Why, test.want) || strings.Contains(c.Why, "secret words") {
				t.Errorf("after %d %v: %+v", test.status, test.err, c)
			}
		}
		asks(t, &p, "/version", 404, nil, time.Millisecond)
		if c, _ := p.condition(); c.Reach != Reachable {
			t.Errorf("an answer is an answer: %+v", c)
		}
	})
}

func TestAConditionIsOfOneRequest(t *testing.T) {
	t.Parallel()
	var p pulse
	var all sync.WaitGroup
	done := make(chan struct{})
	for _, status := range []int{401, 503} {
		all.Go(func() {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/version", nil)
			for {
				select {
				case <-done:
					return
				default:
					p.note(req, &http.Response{StatusCode: status}, nil, time.Now(), time.Now())
				}
			}
		})
	}
	for range 10_000 {
		if c, trouble := p.condition(); c.Reach == Unreachable && c.Why != troubleText(trouble) {
			t.Errorf("%q is said of %v", c.Why, trouble)
			break
		}
	}
	close(done)
	all.Wait()
}

func TestARequestThatItsCallerGaveUpSaysNothingUntilItIsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		ctx, cancel := context.WithCancel(t.Context())
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/version", nil)
		cancel()
		p.note(req, nil, context.Canceled, time.Now().Add(-time.Second), time.Now())
		if c, _ := p.condition(); c.Reach != ReachUnknown {
			t.Errorf("%+v", c)
		}
		p.note(req, nil, context.Canceled, time.Now().Add(-pulseLimit), time.Now())
		if c, _ := p.condition(); c.Reach != Unreachable {
			t.Errorf("%+v", c)
		}
	})
}

func TestAClusterIsAskedOnlyWhileNothingElseIsHeardOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.keep(ctx, func(context.Context) (string, error) {
				asked++
				p.note(httptest.NewRequestWithContext(ctx, http.MethodGet, "/version", nil), &http.Response{StatusCode: 200}, nil, time.Now(), time.Now())
				return "v1.36.1+odd", nil
			})
		}()
		<-time.After(10 * time.Minute)
		synctest.Wait()
		quiet := asked
		if c, _ := p.condition(); quiet < 10 || quiet > 22 || c.Version != "v1.36.1" {
			t.Errorf("asked %d times in 10 minutes, version %q", quiet, c.Version)
		}
		for range 120 {
			asks(t, &p, "/api/v1/namespaces/a/configmaps", 200, nil, 5*time.Second)
		}
		synctest.Wait()
		if busy := asked - quiet; busy > 2 {
			t.Errorf("asked %d times although requests were answered", busy)
		}
		cancel()
		<-done
	})
}

func TestTheConditionOfAClusterNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	cluster := func(fields map[string]string) Secret {
		data := map[string][]byte{"server": []byte("https://10.0.0.1"), "name": []byte("far")}
		for name, value := range fields {
			data[name] = []byte(value)
		}
		return Secret{kind: v1alpha1.SecretTypeCluster, Data: data}
	}
	set := NewSettings(func() {})
	set.secrets = map[string]Secret{
		"unused": cluster(nil), "json": cluster(map[string]string{"config": "{"}), "limits": cluster(map[string]string{"namespaces": "*"}),
		"bare": cluster(map[string]string{"server": v1alpha1.InClusterServer}),
	}
	options := opensWith(t, set)
	options.Namespaced = true
	clusters := NewClusters(options)
	t.Cleanup(clusters.Close)
	for name, want := range map[string]string{
		"unused": "", "gone": "", "json": "cluster Secret json: config", "limits": "namespaces", "bare": "lacks the field namespaces",
	} {
		c := clusters.Condition(name)
		if reach := c.Reach == Unreachable; reach != (want != "") || !strings.Contains(c.Why, want) {
			t.Errorf("%s: %+v, want %q", name, c, want)
		}
	}
	if clusters.HasImplied() {
		t.Error("an agent with Roles only has its own cluster unasked")
	}
	set.configs[ConfigArgoCD] = map[string]string{KeyInCluster: "false"}
	if c := clusters.Condition("bare"); c.Reach != ReachUnknown || !strings.Contains(c.Why, KeyInCluster) {
		t.Errorf("switched off: %+v", c)
	}
}

func TestAProjectLearnsNothingOfWhatIsAtAnAddress(t *testing.T) {
	t.Parallel()
	set := NewSettings(func() {})
	set.secrets["far"] = Secret{kind: v1alpha1.SecretTypeCluster, Data: map[string][]byte{
		"server": []byte("https://127.0.0.1:4"), "name": []byte("far"), "project": []byte("shop"),
	}}
	options := opensWith(t, set)
	options.Outbound.Allow = outward.List{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	clusters := NewClusters(options)
	t.Cleanup(clusters.Close)
	target, err := clusters.Target(t.Context(), "shop", v1alpha1.ApplicationDestination{Name: "far"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.Live.API.Ask(t.Context()); err == nil {
		t.Fatal("something answers")
	}
	c := clusters.Condition("far")
	if c.Reach != Unreachable || !strings.Contains(c.Why, "fields server and config") || strings.Contains(c.Why, "refused") {
		t.Errorf("%+v", c)
	}
}
