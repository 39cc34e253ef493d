package succession

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/internal/clock"
)

// Duration is how long a Lease counts that is not renewed. The agent writes for two thirds of it.
const Duration = 15 * time.Second

// Errors of writes that are not sent.
var (
	// ErrSuperseded says that another agent took over.
	ErrSuperseded = errors.New("another agent took over from this one, which writes nothing any more")
	// ErrHeld says that deletions wait for a person.
	ErrHeld = errors.New("held: nothing is deleted until the takeover is confirmed: `slipway agent promote --confirm`")
)

// Config is what a Keeper needs.
type Config struct {
	// Name is shared by an agent and its standby, Namespace is where their Leases are in each cluster.
	Name, Namespace string
	// Core has the ConfigMaps of the agent's namespace, in its own cluster.
	Core typed.ConfigMapInterface
	// Cluster finds the uid of the agent's own cluster; "" where it may not be read. nil: it is not looked for.
	Cluster func(context.Context) (string, error)
	// Standby says that the agent waits for its promotion.
	Standby bool
	// Superseded is called once, when another agent took over.
	Superseded func()
	Log        *slog.Logger
	// Duration is that of the Leases; 0 for Duration.
	Duration time.Duration
}

// Keeper lets writes to clusters pass while the agent may write there.
type Keeper struct {
	cfg Config

	mu    sync.Mutex
	place Place
	over  bool // another agent took over
	read  time.Time
	hosts map[string]*holding
	// observed are the Applications that were compared since the takeover; noted says that all of them were, and that this is kept.
	observed map[string]bool
	noted    bool
}

// holding is the Lease of one cluster.
type holding struct {
	mu sync.Mutex
	// until is how long the agent may write; zero: not at all.
	until clock.Instant
	// wait is from when it may write, after it took the Lease from another one.
	wait time.Time
}

// New is a Keeper of an agent that is not active yet.
func New(cfg Config) *Keeper {
	if cfg.Duration == 0 {
		cfg.Duration = Duration
	}
	return &Keeper{cfg: cfg, hosts: map[string]*holding{}, observed: map[string]bool{}}
}

// Await waits until the agent is active.
func (k *Keeper) Await(ctx context.Context, notify func(why string)) error {
	p, err := k.await(ctx, notify)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.place, k.read = p, time.Now()
	k.cfg.Log.Info("this agent is the active one", "site", p.Site, "generation", p.Generation, "deletions_held", p.HoldsDeletions)
	return nil
}

// readPlace reads what the agent is.
func (k *Keeper) readPlace(ctx context.Context) (Place, error) {
	cluster := ""
	if k.cfg.Cluster != nil {
		var err error
		if cluster, err = k.cfg.Cluster(ctx); err != nil {
			return Place{}, fmt.Errorf("find out which cluster this is: %w", err)
		}
	}
	return Read(ctx, k.cfg.Core, cluster, k.cfg.Standby)
}

// Generation is how often an agent of this name was promoted, as a time; 0 for one that never was.
func (k *Keeper) Generation() int64 {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.place.Generation
}

// Supersede ends all writing: another agent took over, with a generation; 0 where that is not known.
func (k *Keeper) Supersede(ctx context.Context, why string, generation int64) {
	if k == nil {
		return
	}
	k.mu.Lock()
	first := !k.over
	k.over = true
	k.mu.Unlock()
	if !first {
		return
	}
	k.cfg.Log.Error("ANOTHER AGENT TOOK OVER: this one writes nothing any more", "why", why)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if err := supersede(ctx, k.cfg.Core, generation); err != nil {
		k.cfg.Log.Warn("after a restart, the agent finds it in the clusters again", "err", err)
	}
	k.cfg.Superseded()
}

// noteTime bounds the note that another agent took over.
const noteTime = 10 * time.Second

// Guard lets no write pass that the agent may not send. A nil Keeper lets everything pass.
func (k *Keeper) Guard(next http.RoundTripper) http.RoundTripper {
	if k == nil {
		return next
	}
	return &guarded{k, next}
}

type guarded struct {
	*Keeper
	next http.RoundTripper
}

// WrappedRoundTripper lets clients close connections that are idle.
func (g *guarded) WrappedRoundTripper() http.RoundTripper { return g.next }

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if writes(req) {
		if err := g.permit(req); err != nil {
			if req.Body != nil {
				_ = req.Body.Close()
			}
			return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
		}
	}
	return g.next.RoundTrip(req)
}

// writes reports whether a request may change something.
func writes(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return req.URL.Query().Get("dryRun") == "" && !isQuestion(req.URL.Path)
}

// isQuestion reports whether a path asks what an account may do. Other groups may have a kind Review too, which is stored.
func isQuestion(path string) bool {
	_, path, ok := strings.Cut(path, "/apis/")
	group, _, _ := strings.Cut(path, "/")
	return ok && (group == "authorization.k8s.io" || group == "authentication.k8s.io") && strings.HasSuffix(path, "reviews")
}

// permit says why a write may not be sent; nil where it may.
func (g *guarded) permit(req *http.Request) error {
	g.mu.Lock()
	over, place := g.over, g.place
	at := base(req)
	h := g.hosts[at]
	if h == nil {
		h = &holding{}
		g.hosts[at] = h
	}
	g.mu.Unlock()
	if over {
		return ErrSuperseded
	}
	if req.Method == http.MethodDelete && place.HoldsDeletions && g.stillHeld(req.Context()) {
		return ErrHeld
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.until == (clock.Instant{}) || h.until.Passed(clock.Now()) {
		begun := clock.Now()
		if err := g.renew(req, h, place); err != nil {
			return err
		}
		left := time.Until(h.wait)
		if left <= 0 {
			h.until = begun.Add(g.cfg.Duration * 2 / 3)
			break
		}
		// The one before may write until then.
		timer := time.NewTimer(left)
		select {
		case <-req.Context().Done():
			timer.Stop()
			return req.Context().Err()
		case <-timer.C:
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return ErrSuperseded
	}
	return nil
}

// Turned notes that an Application had its turn, one of so many, and whether it was compared. Once all of them were since a takeover, this
// is kept for the person who confirms it.
func (k *Keeper) Turned(ctx context.Context, app string, compared bool, all int) {
	if k == nil {
		return
	}
	k.mu.Lock()
	if !k.place.HoldsDeletions || k.noted {
		k.mu.Unlock()
		return
	}
	if compared {
		k.observed[app] = true
	} else {
		delete(k.observed, app)
	}
	k.noted = len(k.observed) >= all
	noted, generation := k.noted, k.place.Generation
	k.mu.Unlock()
	if !noted {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if err := noteObserved(ctx, k.cfg.Core, generation); err != nil {
		k.cfg.Log.Warn("note that all Applications were compared; it is tried again", "err", err)
		k.mu.Lock()
		k.noted = false
		k.mu.Unlock()
		return
	}
	k.cfg.Log.Info("all Applications were compared since the takeover", "applications", all)
}

// readAgain is how old what is known of the hold of deletions may be.
const readAgain = 2 * time.Second

// stillHeld reports whether deletions wait for a person.
func (k *Keeper) stillHeld(ctx context.Context) bool {
	k.mu.Lock()
	recent := time.Since(k.read) < readAgain
	k.mu.Unlock()
	if recent {
		return true
	}
	p, err := k.readPlace(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read = time.Now()
	if err != nil || p.Generation != k.place.Generation {
		return true
	}
	k.place.HoldsDeletions = p.HoldsDeletions
	return p.HoldsDeletions
}

// Forget drops what is known of an Application that is gone, so that it does not stand for one that is there.
func (k *Keeper) Forget(app string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.observed, app)
}

// base is the address of the API server that a request is for, with what comes before its paths.
func base(req *http.Request) string {
	path := req.URL.Path
	end := len(path)
	for _, root := range []string{"/api/", "/apis/"} { // the first of both: a namespace may be named api
		if i := strings.Index(path, root); i >= 0 {
			end = min(end, i)
		}
	}
	return req.URL.Scheme + "://" + req.URL.Host + strings.TrimSuffix(path[:end], "/")
}
