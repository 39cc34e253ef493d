package succession

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	// annotationGeneration is the generation of the holder of a Lease.
	annotationGeneration = "slipway.dev/generation"
	// maxLease bounds the answer with a Lease, and longestWait the longest duration of a Lease that is respected.
	maxLease    = 256 << 10
	longestWait = 5 * time.Minute
	// leaseTries is how often a Lease is tried that others write too.
	leaseTries = 3
)

// errConflict says that the Lease was written in the meantime.
var errConflict = errors.New("the Lease was written in the meantime")

func (k *Keeper) leaseName() string { return "slipway-succession-" + k.cfg.Name }

// renew holds the Lease of the cluster that a request is for: renews it, takes it from an agent of an earlier generation, or finds that
// one of a later generation has it.
func (g *guarded) renew(req *http.Request, h *holding, place Place) error {
	for range leaseTries {
		lease, err := g.lease(req, http.MethodGet, nil)
		if err == nil {
			err = g.hold(req, h, place, lease)
		}
		if !errors.Is(err, errConflict) {
			return err
		}
	}
	return fmt.Errorf("hold the Lease %s/%s: %w", g.cfg.Namespace, g.leaseName(), errConflict)
}

// hold makes the Lease the agent's own; nil is none.
func (g *guarded) hold(req *http.Request, h *holding, place Place, lease *coordination.Lease) error {
	now := metav1.NewMicroTime(time.Now())
	seconds := int32(g.cfg.Duration / time.Second)
	if lease == nil {
		if place.Generation > 0 && !place.Unfenced {
			return fmt.Errorf("no agent named %s held the Lease %s/%s in this cluster, so the one before may still write here: "+
				"end it, then run `slipway agent promote --unfenced`", g.cfg.Name, g.cfg.Namespace, g.leaseName())
		}
		fresh := &coordination.Lease{
			TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{
				Name: g.leaseName(), Namespace: g.cfg.Namespace, Labels: map[string]string{"app.kubernetes.io/part-of": "slipway"},
				Annotations: map[string]string{annotationGeneration: strconv.FormatInt(place.Generation, 10)},
			},
			Spec: coordination.LeaseSpec{HolderIdentity: &place.Site, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}
		_, err := g.lease(req, http.MethodPost, fresh)
		return err
	}
	there, err := strconv.ParseInt(lease.Annotations[annotationGeneration], 10, 64)
	if err != nil {
		return fmt.Errorf("the Lease %s/%s has no generation: delete it where no other agent writes to this cluster", g.cfg.Namespace,
			g.leaseName())
	}
	mine := lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == place.Site
	switch {
	case there > place.Generation, there == place.Generation && !mine:
		g.Supersede(req.Context(), fmt.Sprintf("the Lease %s/%s of %s is held by another site", g.cfg.Namespace, g.leaseName(), base(req)), there)
		return ErrSuperseded
	case there < place.Generation:
		if !mine {
			counts := g.cfg.Duration
			if s := lease.Spec.LeaseDurationSeconds; s != nil {
				counts = min(max(counts, time.Duration(*s)*time.Second), longestWait)
			}
			lease.Spec.AcquireTime, h.wait = &now, time.Now().Add(counts)
			seconds = int32(counts / time.Second)
		}
		lease.Annotations[annotationGeneration] = strconv.FormatInt(place.Generation, 10)
	case lease.Spec.AcquireTime != nil && lease.Spec.LeaseDurationSeconds != nil && h.wait.IsZero():
		// It was taken before a restart: the wait goes on, and is never longer than a whole one.
		counts := min(time.Duration(*lease.Spec.LeaseDurationSeconds)*time.Second, longestWait)
		if ends := lease.Spec.AcquireTime.Add(counts); ends.After(time.Now()) {
			h.wait = time.Now().Add(min(time.Until(ends), counts))
		}
	}
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &place.Site, &seconds, &now
	_, err = g.lease(req, http.MethodPut, lease)
	return err
}

// lease sends a request about the Lease the way that another one goes, with its credentials. A Lease that is not there is nil.
func (g *guarded) lease(like *http.Request, method string, body *coordination.Lease) (*coordination.Lease, error) {
	at := base(like) + "/apis/coordination.k8s.io/v1/namespaces/" + g.cfg.Namespace + "/leases"
	if method != http.MethodPost {
		at += "/" + g.leaseName()
	}
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the Lease: %w", err)
		}
		content = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(like.Context(), method, at, content)
	if err != nil {
		return nil, fmt.Errorf("write the Lease: %w", err)
	}
	for name, values := range like.Header {
		// As the agent itself, not as the account that a sync acts as.
		if name == "Authorization" || name == "User-Agent" {
			req.Header[name] = values
		}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("hold the Lease %s/%s: %w", g.cfg.Namespace, g.leaseName(), err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxLease))
	if err != nil {
		return nil, fmt.Errorf("read the Lease %s/%s: %w", g.cfg.Namespace, g.leaseName(), err)
	}
	switch {
	case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
		return nil, nil //nolint:nilnil // there is none
	case resp.StatusCode == http.StatusConflict:
		return nil, errConflict
	case resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("the agent may not hold the Lease %s/%s: grant it get, create and update on Leases there, or choose another "+
			"namespace by --succession-namespace", g.cfg.Namespace, g.leaseName())
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, fmt.Errorf("hold the Lease %s/%s: the API server answers with %s", g.cfg.Namespace, g.leaseName(),
			strings.TrimSpace(http.StatusText(resp.StatusCode)))
	}
	lease := &coordination.Lease{}
	if err := strict.Decode(raw, lease, strict.Foreign); err != nil {
		return nil, fmt.Errorf("read the Lease %s/%s: %w", g.cfg.Namespace, g.leaseName(), err)
	}
	return lease, nil
}
