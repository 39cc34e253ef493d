package place

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/agent/credential"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/outward"
)

const (
	// pulseLook is the time between two looks at what is known of a cluster.
	pulseLook = 10 * time.Second
	// pulseQuiet is how long nothing may be heard of a cluster until it is asked for its version.
	pulseQuiet = 30 * time.Second
	// pulseRenew is how old a version may be.
	pulseRenew = 10 * time.Minute
	// pulseLimit is how long an answer may take.
	pulseLimit = 10 * time.Second
	// pulseSamples is the number of answers that the latency is made of.
	pulseSamples = 33
)

// pulse knows how requests to a cluster went. It is fed by those that happen anyway.
type pulse struct {
	mu        sync.Mutex
	took      [pulseSamples]time.Duration // of the last answers, in any order
	answers   int                         // that took was written for
	good, bad time.Time                   // the last answer, and the last request without a usable one
	trouble   error                       // of the latter
	version   string
	versionAt time.Time
}

// around wraps a transport.
func (p *pulse) around(next http.RoundTripper) http.RoundTripper {
	return felt{next, p}
}

// felt is a transport with a pulse.
type felt struct {
	http.RoundTripper
	pulse *pulse
}

var _ utilnet.RoundTripperWrapper = felt{}

// RoundTrip implements http.RoundTripper.
func (f felt) RoundTrip(req *http.Request) (*http.Response, error) {
	begun := time.Now()
	resp, err := f.RoundTripper.RoundTrip(req)
	f.pulse.note(req, resp, err, begun, time.Now())
	return resp, err
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (f felt) WrappedRoundTripper() http.RoundTripper { return f.RoundTripper }

// note takes in how a request went. One that its caller gave up before the time of an answer was over says nothing.
func (p *pulse) note(req *http.Request, resp *http.Response, err error, begun, now time.Time) {
	trouble := err
	switch late := now.Sub(begun) >= pulseLimit*9/10; {
	case err != nil && late:
		trouble = context.DeadlineExceeded
	case err != nil && (req.Context().Err() != nil || errors.Is(err, context.Canceled)):
		return
	case err == nil && resp.StatusCode == http.StatusUnauthorized:
		trouble = errUnauthorized
	case err == nil && resp.StatusCode >= http.StatusInternalServerError:
		trouble = statusError(resp.StatusCode)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if trouble != nil {
		p.bad, p.trouble = now, trouble
		return
	}
	p.good = now
	if !lasts(req) {
		p.took[p.answers%pulseSamples] = now.Sub(begun)
		p.answers++
	}
}

var errUnauthorized = errors.New("the API server refuses the credentials: renew them")

// statusError is an answer of an API server that cannot work.
type statusError int

// Error names the status.
func (s statusError) Error() string { return "the API server answers with " + outward.Status(int(s)) }

// due reports whether the cluster is to be asked: nothing was heard of it for a while, or its version is old.
func (p *pulse) due(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard := p.good
	if p.bad.After(heard) {
		heard = p.bad
	}
	return now.Sub(heard) >= pulseQuiet || p.bad.Before(p.good) && now.Sub(p.versionAt) >= pulseRenew
}

// keep looks after the pulse of a cluster until ctx ends. ask asks the cluster for its version.
func (p *pulse) keep(ctx context.Context, ask func(context.Context) (string, error)) {
	timer := time.NewTimer(clock.About(pulseLook))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if p.due(time.Now()) {
			p.ask(ctx, ask)
		}
		timer.Reset(clock.About(pulseLook))
	}
}

// ask has the cluster asked for its version. The request is noted by the transport.
func (p *pulse) ask(ctx context.Context, ask func(context.Context) (string, error)) {
	ctx, cancel := context.WithTimeout(ctx, pulseLimit)
	defer cancel()
	if version, err := ask(ctx); err == nil {
		p.serves(version, time.Now())
	}
}

// serves notes the version of the cluster.
func (p *pulse) serves(version string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.versionAt = VersionOf(version), now
}

// Reachability is how requests to a cluster went lately.
type Reachability int

// How requests went.
const (
	ReachUnknown Reachability = iota
	Reachable
	Unreachable
)

// Condition is what is known of a cluster. What is not known is empty.
type Condition struct {
	Reach   Reachability
	Why     string    // of what is not Reachable; it has no words of what answers
	At      time.Time // of the last answer, or of the last request without one
	Version string    // of Kubernetes
	Latency time.Duration
	Kinds   int // that the API server has
	Objects int // of Applications
}

// condition says how the last requests went. Where the cluster is Unreachable, it also returns the error that Why is the text of.
func (p *pulse) condition() (c Condition, trouble error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c = Condition{Version: p.version, Latency: p.latency()}
	switch {
	case p.good.IsZero() && p.bad.IsZero():
	case p.bad.After(p.good):
		trouble = p.trouble
		c.Reach, c.At, c.Why = Unreachable, p.bad, troubleText(trouble)
	default:
		c.Reach, c.At = Reachable, p.good
	}
	return c, trouble
}

// latency is the median of the last answers; 0 without one. Callers hold the lock.
func (p *pulse) latency() time.Duration {
	n := min(p.answers, pulseSamples)
	if n == 0 {
		return 0
	}
	took := p.took
	slices.Sort(took[:n])
	return took[n/2]
}

// troubleText says why a request had no usable answer.
func troubleText(err error) string {
	var status statusError
	var own *credential.Error
	switch {
	case errors.Is(err, errUnauthorized), errors.As(err, &status), errors.As(err, &own):
		return err.Error()
	}
	return outward.Reason(err, errMoved)
}

// Condition returns what is known of the cluster of a Secret, or of the agent's own where secret is empty. It asks the cluster nothing.
func (c *Clusters) Condition(secret string) Condition {
	entry, ok := clusterEntry{server: ownAddress, id: ownCluster}, true
	if secret != "" {
		entry, ok = c.Settings.clusterOf(secret)
	}
	if !ok {
		return Condition{}
	}
	if entry.server == ownAddress && !c.Settings.InCluster() {
		return Condition{Why: fmt.Sprintf("switched off: %s in %s is false", KeyInCluster, ConfigArgoCD)}
	}
	c.mu.Lock()
	d := c.open[entry.key()]
	c.mu.Unlock()
	if d == nil {
		return c.unopened(entry)
	}
	out, trouble := d.pulse.condition()
	if out.Reach == Unreachable {
		if entry.owner != "" && !errors.Is(trouble, errUnauthorized) {
			// A user who may edit the clusters of one project only learns nothing about what is at an address.
			out.Why = "nothing that can be used answers: check the fields server and config, network and proxy"
		}
		out.Why = entry.named() + out.Why
	}
	version, kinds := d.Target.Live.API.Known()
	if out.Version == "" {
		out.Version = VersionOf(version)
	}
	out.Kinds, out.Objects = kinds, d.Target.Live.Stats().Tracked
	return out
}

// named begins a message about a cluster.
func (e clusterEntry) named() string {
	if e.secret == "" {
		return ""
	}
	return "cluster Secret " + e.secret + ": "
}

// unopened is what is known of a cluster that nothing has been asked of: what is wrong in its Secret.
func (c *Clusters) unopened(entry clusterEntry) Condition {
	err := entry.wrong
	if err == nil {
		_, _, err = c.described(entry)
	}
	if err != nil {
		return Condition{Reach: Unreachable, Why: err.Error()}
	}
	return Condition{}
}

// HasImplied reports whether the agent's own cluster is one of its clusters although no Secret describes it.
func (c *Clusters) HasImplied() bool {
	if c.Namespaced {
		return false
	}
	_, described := c.Settings.cluster("", ownAddress, "")
	return !described
}

// unsigned is the connection that a Secret describes without an identity of the agent.
func (e clusterEntry) unsigned(policy *outward.Policy) (*rest.Config, error) {
	config, err := e.rest(nil)
	if err != nil {
		return nil, err
	}
	next, err := carry(config, policy)
	if err != nil {
		return nil, err
	}
	return over(config.Host, next), nil
}

// TryConfig reads the connection that a cluster Secret would describe. That of the agent's own API server is the agent's where the
// Secret has no credentials; no other uses an identity of the agent. It connects to nothing but what the policy allows.
func (c *Clusters) TryConfig(name string, data map[string][]byte) (*rest.Config, error) {
	e := entryOf(name, Secret{Data: data})
	if e.server != ownAddress {
		return e.unsigned(c.Outbound)
	}
	if e.wrong != nil {
		return nil, e.wrong
	}
	config, _, err := c.described(e)
	if err != nil {
		return nil, err
	}
	return rest.CopyConfig(config), nil
}
