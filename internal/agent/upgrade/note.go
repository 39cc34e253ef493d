package upgrade

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
)

// ConfigMap is where the last upgrade is noted, in the agent's namespace.
const ConfigMap = "slipway-agent-upgrade"

// States of an upgrade.
const (
	statePending   = "pending"   // the new agent has not connected yet
	stateConfirmed = "confirmed" // the new agent has connected
	stateReturned  = "returned"  // the image before was put back
)

// note is what is kept of the last upgrade.
type note struct{ Image, Before, State, Version string }

func (n note) data() map[string]string {
	return map[string]string{"image": n.Image, "before": n.Before, "state": n.State, "version": n.Version}
}

func noteOf(m *corev1.ConfigMap) note {
	return note{Image: m.Data["image"], Before: m.Data["before"], State: m.Data["state"], Version: m.Data["version"]}
}

// note writes what is about to be done.
func (u *Upgrader) note(ctx context.Context, n note) error {
	in := u.cfg.Client.CoreV1().ConfigMaps(u.cfg.Namespace)
	marks := map[string]string{"app.kubernetes.io/part-of": "slipway"}
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigMap, Labels: marks}}
	have, err := in.Get(ctx, ConfigMap, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		want.Data = n.data()
		_, err = in.Create(ctx, want, metav1.CreateOptions{FieldManager: Manager})
	case err == nil:
		have.Data = n.data()
		_, err = in.Update(ctx, have, metav1.UpdateOptions{FieldManager: Manager})
	}
	if err != nil {
		return fmt.Errorf("note the upgrade in ConfigMap %s/%s: %w: nothing was changed", u.cfg.Namespace, ConfigMap, err)
	}
	return nil
}

// last reads the note of the last upgrade; a zero note where there is none.
func (u *Upgrader) last(ctx context.Context) (note, *corev1.ConfigMap, error) {
	m, err := u.cfg.Client.CoreV1().ConfigMaps(u.cfg.Namespace).Get(ctx, ConfigMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return note{}, nil, nil
	}
	if err != nil {
		return note{}, nil, fmt.Errorf("read ConfigMap %s/%s: %w", u.cfg.Namespace, ConfigMap, err)
	}
	return noteOf(m), m, nil
}

// Confirm notes that the upgraded agent has connected: then the image before is not put back. It looks once more at what
// the agent runs and may do.
func (u *Upgrader) Confirm(ctx context.Context) {
	if u.cfg.Forbidden != "" {
		return
	}
	u.Look(ctx)
	n, m, err := u.last(ctx)
	if err != nil {
		u.cfg.Log.Warn("the upgrade is not confirmed yet", "err", err)
		return
	}
	running := digestOf(u.Told(agentapi.Versions{}).Image)
	if m == nil || n.State != statePending || running == "" || digestOf(n.Image) != running {
		return
	}
	m.Data["state"] = stateConfirmed
	_, err = u.cfg.Client.CoreV1().ConfigMaps(u.cfg.Namespace).Update(ctx, m, metav1.UpdateOptions{FieldManager: Manager})
	if err != nil {
		u.cfg.Log.Warn("the upgrade is not confirmed yet", "err", err)
		return
	}
	u.cfg.Log.Info("the upgrade is confirmed: the agent has connected", "image", n.Image)
}

// back puts the image back that the agent ran before the last upgrade. It needs no statement: the agent ran that one.
func (u *Upgrader) back(ctx context.Context, digest string) (any, error) {
	n, m, err := u.last(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil || n.Before == "" {
		return nil, command.Refuse(agentapi.CodeNotFound, "the agent has not been upgraded by a command: there is nothing to go back to")
	}
	out := agentapi.Upgraded{Before: n.Image, Image: n.Before}
	deployment, err := u.cfg.Client.AppsV1().Deployments(u.cfg.Namespace).Get(ctx, u.cfg.Deployment, metav1.GetOptions{})
	if err != nil {
		return nil, command.Refuse(agentapi.CodeForbidden, "%s", u.explain(err))
	}
	at, present, err := u.container(deployment)
	if err != nil {
		return nil, command.Refuse(agentapi.CodeUnsupported, "%s", err)
	}
	switch {
	case present == n.Before:
		return out, nil
	case digest != "" && digestOf(present) != digest, present != n.Image:
		return nil, command.Refuse(agentapi.CodeConflict, "the Deployment names %.200s, which is not what the last upgrade made it: "+
			"nothing is changed", present)
	}
	n.State = stateReturned
	if err := u.note(ctx, n); err != nil {
		return nil, err
	}
	u.cfg.Log.Info("taking an upgrade of the agent back", "from", present, "to", n.Before)
	return out, u.patch(ctx, at, present, n.Before)
}
