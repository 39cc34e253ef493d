// Package succession lets a standby agent of another cluster take an agent's place, and the one before write nothing from then on.
// In each cluster that they deploy to, a Lease names the agent that may write; it counts generations, one for each promotion.
package succession

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// ConfigMap is where an agent keeps what it is, in its namespace. `slipway agent promote` writes it.
const ConfigMap = "slipway-agent-succession"

// Keys of the ConfigMap, and what they say.
const (
	keySite       = "site"
	keyGeneration = "generation"
	keyState      = "state"
	keyDeletions  = "deletions"
	keyUnfenced   = "unfenced"
	keyObserved   = "observed"
	keyCluster    = "cluster"
	keySeen       = "seen"

	stateActive     = "active"
	stateSuperseded = "superseded"
	deletionsHeld   = "held"
)

// Place is what an agent is.
type Place struct {
	// Site distinguishes the agent from its standby.
	Site       string
	Generation int64
	Active     bool
	// HoldsDeletions says that nothing may be deleted until a person has confirmed the takeover.
	HoldsDeletions bool
	// Unfenced lets the agent write to clusters in which the one before held no Lease.
	Unfenced bool
}

// placeOf reads a ConfigMap. An agent without a promotion is active, unless it is a standby.
func placeOf(m *corev1.ConfigMap, standby bool) (Place, error) {
	p := Place{
		Site: m.Data[keySite], Active: !standby, HoldsDeletions: m.Data[keyDeletions] == deletionsHeld, Unfenced: m.Data[keyUnfenced] == "true",
	}
	if text := m.Data[keyGeneration]; text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return p, fmt.Errorf("ConfigMap %s has the generation %.40q, which is no number: run `slipway agent promote` again", ConfigMap, text)
		}
		p.Generation = n
	}
	switch state := m.Data[keyState]; state {
	case stateActive:
		p.Active = true
	case stateSuperseded:
		p.Active = false
	case "":
	default:
		return p, fmt.Errorf("ConfigMap %s has the state %.40q: it is %s or %s", ConfigMap, state, stateActive, stateSuperseded)
	}
	return p, nil
}

// Read reads what the agent is, and names its site at the first time. cluster is the uid of the agent's own cluster; "" where it may
// not be read. What was copied from another cluster, by a backup perhaps, says nothing about this agent: two would be active by it.
func Read(ctx context.Context, in typed.ConfigMapInterface, cluster string, standby bool) (Place, error) {
	m, err := in.Get(ctx, ConfigMap, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		m, err = in.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: ConfigMap, Labels: map[string]string{"app.kubernetes.io/part-of": "slipway"}},
			Data:       fresh(cluster),
		}, metav1.CreateOptions{})
	case err != nil:
	case m.Data[keySite] == "", cluster != "" && m.Data[keyCluster] != "" && m.Data[keyCluster] != cluster:
		m.Data = fresh(cluster)
		m, err = in.Update(ctx, m, metav1.UpdateOptions{})
	case m.Data[keyCluster] != cluster && cluster != "":
		m.Data[keyCluster] = cluster
		m, err = in.Update(ctx, m, metav1.UpdateOptions{})
	}
	if err != nil {
		return Place{}, fmt.Errorf("read ConfigMap %s: %w", ConfigMap, err)
	}
	return placeOf(m, standby)
}

// fresh is what an agent without a past keeps.
func fresh(cluster string) map[string]string {
	data := map[string]string{keySite: strings.ToLower(rand.Text())}
	if cluster != "" {
		data[keyCluster] = cluster
	}
	return data
}

// promotionPause is the time between two looks of a standby.
const promotionPause = 2 * time.Second

// await waits until the agent is active. notify is called with why it is not, when that changes.
func (k *Keeper) await(ctx context.Context, notify func(why string)) (Place, error) {
	ticker := time.NewTicker(promotionPause)
	defer ticker.Stop()
	last := ""
	for {
		p, err := k.readPlace(ctx)
		why := "this is a standby: `slipway agent promote` makes it take over"
		switch {
		case ctx.Err() != nil:
			return p, ctx.Err()
		case err != nil:
			why = err.Error()
		case p.Active:
			return p, nil
		case !k.cfg.Standby || p.Generation > 0:
			why = "another agent took over from this one: `slipway agent promote` makes it take over again"
		}
		if why != last {
			notify(why)
			last = why
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-ticker.C:
		}
	}
}

// noteObserved notes that all Applications were compared since the promotion to a generation.
func noteObserved(ctx context.Context, in typed.ConfigMapInterface, generation int64) error {
	m, err := in.Get(ctx, ConfigMap, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ConfigMap %s: %w", ConfigMap, err)
	}
	if m.Data == nil {
		m.Data = map[string]string{}
	}
	m.Data[keyObserved] = strconv.FormatInt(generation, 10)
	if _, err := in.Update(ctx, m, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", ConfigMap, err)
	}
	return nil
}

// supersede notes that another agent took over, so that this one waits after a restart too, and its generation, so that the next
// promotion of this one is later whatever clock it goes by.
func supersede(ctx context.Context, in typed.ConfigMapInterface, seen int64) error {
	m, err := in.Get(ctx, ConfigMap, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ConfigMap %s: %w", ConfigMap, err)
	}
	if m.Data == nil {
		m.Data = map[string]string{}
	}
	m.Data[keyState] = stateSuperseded
	if seen > 0 {
		m.Data[keySeen] = strconv.FormatInt(seen, 10)
	}
	if _, err := in.Update(ctx, m, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("note in ConfigMap %s that another agent took over: %w", ConfigMap, err)
	}
	return nil
}
