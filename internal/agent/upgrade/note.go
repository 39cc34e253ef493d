package upgrade

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/statement"
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
type note struct {
	Image, Before, State string
	// Version is that of Image, and VersionBefore that of Before.
	Version, VersionBefore string
	// Minimum is what the release of Image says, and Floor what counted before it.
	Minimum, Floor string
	// Issued is when the statement of Image was signed, and IssuedBefore that of Before.
	Issued, IssuedBefore time.Time
}

func (n note) data() map[string]string {
	out := map[string]string{
		"image": n.Image, "before": n.Before, "state": n.State, "version": n.Version, "versionBefore": n.VersionBefore, "minimum": n.Minimum,
		"floor": n.Floor, "issued": n.Issued.UTC().Format(time.RFC3339), "issuedBefore": n.IssuedBefore.UTC().Format(time.RFC3339),
	}
	return out
}

func noteOf(m *corev1.ConfigMap) note {
	n := note{
		Image: m.Data["image"], Before: m.Data["before"], State: m.Data["state"], Version: m.Data["version"],
		VersionBefore: m.Data["versionBefore"], Minimum: m.Data["minimum"], Floor: m.Data["floor"],
	}
	// What is no time was written by a person, and counts as none.
	n.Issued, _ = time.Parse(time.RFC3339, m.Data["issued"])
	n.IssuedBefore, _ = time.Parse(time.RFC3339, m.Data["issuedBefore"])
	return n
}

// present is what the agent knows of the release that it runs.
type present struct {
	version string
	// floor is the oldest version that it may be brought back to, and issued when the statement was signed by which it was upgraded.
	floor  string
	issued time.Time
}

// present is what the agent runs, from its note and from what its program says.
func (u *Upgrader) present(n note) present {
	running := digestOf(u.Told(agentapi.Versions{}).Image)
	p := present{version: u.cfg.Version, floor: statement.Floor(u.cfg.Minimum, n.Floor)}
	switch {
	case running == "":
	case running == digestOf(n.Image):
		p = present{version: n.Version, floor: statement.Floor(p.floor, n.Minimum), issued: n.Issued}
	case running == digestOf(n.Before):
		p.version, p.issued = n.VersionBefore, n.IssuedBefore
	}
	return p
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
	// An agent that never connected goes back whatever its release says; of any other one, a server may ask for it at any time.
	if floor := statement.Floor(n.Minimum, u.cfg.Minimum); n.State != statePending && statement.Older(n.VersionBefore, floor) {
		return nil, command.Refuse(agentapi.CodePolicy, "version %s is below %s, the minimum of this agent: no command brings it back; run `%s`",
			n.VersionBefore, floor, u.manual(n.Before))
	}
	n.State = stateReturned
	if err := u.note(ctx, n); err != nil {
		return nil, err
	}
	u.cfg.Log.Info("taking an upgrade of the agent back", "from", present, "to", n.Before)
	return out, u.patch(ctx, at, present, n.Before)
}
