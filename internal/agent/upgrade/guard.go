package upgrade

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Job is the name of the guard of an upgrade.
	Job = "slipway-agent-upgrade"
	// GuardVerb is the command of the agent's program that is the guard.
	GuardVerb = "guard-upgrade"
	// guardWithin is how long a new agent has to connect, guardMost the longest that may be asked for.
	guardWithin, guardMost = 10 * time.Minute, 2 * time.Hour
	// guardEvery is the time between two looks of the guard.
	guardEvery = 5 * time.Second
	// guardKept is how long its Job stays, in seconds.
	guardKept int32 = 3600
)

// guard starts a Job of the present image that puts this image back if the new agent does not connect. An agent that crashes
// cannot do that itself.
func (u *Upgrader) guard(ctx context.Context, d *appsv1.Deployment, at int, from, image string, seconds int) error {
	within := guardWithin
	if seconds > 0 {
		within = min(time.Duration(seconds)*time.Second, guardMost)
	}
	jobs := u.cfg.Client.BatchV1().Jobs(u.cfg.Namespace)
	background := metav1.DeletePropagationBackground
	err := jobs.Delete(ctx, Job, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("replace Job %s/%s: %w: the agent needs create on Jobs, and delete on this one", u.cfg.Namespace, Job, err)
	}
	job := u.job(d, at, from, image, within)
	if _, err := jobs.Create(ctx, job, metav1.CreateOptions{FieldManager: Manager}); err != nil {
		return fmt.Errorf("start Job %s/%s: %w: the agent needs create on Jobs, and delete on this one", u.cfg.Namespace, Job, err)
	}
	return nil
}

// job runs the guard as the pod of the agent runs.
func (u *Upgrader) job(d *appsv1.Deployment, at int, from, image string, within time.Duration) *batchv1.Job {
	pod := d.Spec.Template.Spec
	container := pod.Containers[at]
	retries, keep, deadline := int32(6), guardKept, int64((within + 10*time.Minute).Seconds())
	marks := map[string]string{"app.kubernetes.io/name": Job, "app.kubernetes.io/part-of": "slipway"}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: Job, Labels: marks},
		Spec: batchv1.JobSpec{
			BackoffLimit: &retries, TTLSecondsAfterFinished: &keep, ActiveDeadlineSeconds: &deadline,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: marks}, Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyOnFailure, ServiceAccountName: pod.ServiceAccountName,
				ImagePullSecrets: pod.ImagePullSecrets, SecurityContext: pod.SecurityContext,
				NodeSelector: pod.NodeSelector, Tolerations: pod.Tolerations,
				Containers: []corev1.Container{{
					Name: "guard", Image: from, ImagePullPolicy: container.ImagePullPolicy, Command: container.Command,
					SecurityContext: container.SecurityContext,
					Args: []string{
						GuardVerb, "--namespace=" + u.cfg.Namespace, "--deployment=" + u.cfg.Deployment, "--container=" + u.cfg.Container,
						"--image=" + image, "--within=" + within.String(),
					},
				}},
			}},
		},
	}
}

// Guard waits until the agent of an image has connected, and puts the image before back if it does not within a time.
func (u *Upgrader) Guard(ctx context.Context, image string, within time.Duration) error {
	limit := time.NewTimer(within)
	defer limit.Stop()
	ticker := time.NewTicker(guardEvery)
	defer ticker.Stop()
	for {
		n, m, err := u.last(ctx)
		switch {
		case err != nil:
			u.cfg.Log.Warn("look at the upgrade again", "err", err)
		case m == nil || n.Image != image || n.State != statePending:
			u.cfg.Log.Info("the upgrade is over", "image", image, "state", n.State)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			continue
		case <-limit.C:
		}
		u.cfg.Log.Warn("the new agent has not connected in time: the image before is put back", "image", image, "within", within.String())
		if _, err := u.back(ctx, digestOf(image)); err != nil {
			return fmt.Errorf("put the image before back: %w", err)
		}
		return nil
	}
}
