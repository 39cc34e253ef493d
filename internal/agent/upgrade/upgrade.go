// Package upgrade lets the agent change the image of its own Deployment, and nothing else there: to one that a signed statement of
// releases names, and back to the one before.
package upgrade

import (
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/statement"
)

// Manager is the name that writes the image, in the Deployment's managed fields.
const Manager = "slipway-agent-upgrade"

// Config is what an Upgrader needs.
type Config struct {
	Client    kubernetes.Interface
	Namespace string
	// Deployment and Container name what runs the agent.
	Deployment, Container string
	// Image is what this process runs; "" where its pod says so.
	Image string
	// Pod is the name of its pod.
	Pod string
	// KeyFile has the public keys that releases are signed with; "" for none: then nothing is upgraded.
	KeyFile string
	// Minimum is the oldest version that a command may make the agent run; "" for any.
	Minimum string
	// Version is that of this program, and Platform what it runs on; "" for the platform of this process.
	Version, Platform string
	// Forbidden is why this agent is never upgraded by a command; "" where it may be.
	Forbidden string
	Log       *slog.Logger
}

// Upgrader changes the agent's own image.
type Upgrader struct {
	cfg Config

	mu    sync.Mutex
	image string // with its digest; "" where it is not known
	why   string // why it cannot upgrade; "" where it can
}

// New is an Upgrader that knows nothing of the cluster yet.
func New(cfg Config) *Upgrader {
	cfg.Platform = cmp.Or(cfg.Platform, runtime.GOOS+"/"+runtime.GOARCH)
	return &Upgrader{cfg: cfg, image: cfg.Image, why: "the agent has not looked at its Deployment yet"}
}

// Told adds to the versions of an agent what it runs, and whether it can upgrade itself.
func (u *Upgrader) Told(v agentapi.Versions) agentapi.Versions {
	u.mu.Lock()
	defer u.mu.Unlock()
	v.Image, v.NoUpgrade, v.Upgrades = u.image, u.why, u.why == ""
	return v
}

// Look finds out what the agent runs, and whether it may change that.
func (u *Upgrader) Look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	image := u.running(ctx)
	why := u.lacks(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	if image != "" {
		u.image = image
	}
	u.why = why
}

// lookTime bounds a look.
const lookTime = 15 * time.Second

// running is the image of this process, from its own pod.
func (u *Upgrader) running(ctx context.Context) string {
	if u.cfg.Image != "" || u.cfg.Pod == "" {
		return u.cfg.Image
	}
	pod, err := u.cfg.Client.CoreV1().Pods(u.cfg.Namespace).Get(ctx, u.cfg.Pod, metav1.GetOptions{})
	if err != nil {
		u.cfg.Log.Debug("the agent does not know its image", "err", err)
		return ""
	}
	named := ""
	for _, c := range pod.Spec.Containers {
		if c.Name == u.cfg.Container {
			named = c.Image
		}
	}
	if named == "" || digestOf(named) != "" {
		return named
	}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == u.cfg.Container {
			if digest := digestOf(s.ImageID); digest != "" {
				return repositoryOf(named) + "@" + digest
			}
		}
	}
	return named
}

// lacks says why the agent cannot upgrade itself; "" where it can.
func (u *Upgrader) lacks(ctx context.Context) string {
	if u.cfg.Forbidden != "" {
		return u.cfg.Forbidden
	}
	if _, err := u.keys(); err != nil {
		return err.Error()
	}
	deployment, err := u.cfg.Client.AppsV1().Deployments(u.cfg.Namespace).Get(ctx, u.cfg.Deployment, metav1.GetOptions{})
	if err != nil {
		return u.explain(err).Error()
	}
	if _, _, err := u.container(deployment); err != nil {
		return err.Error()
	}
	review, err := u.cfg.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: u.cfg.Namespace, Verb: "patch", Group: "apps", Resource: "deployments", Name: u.cfg.Deployment,
		}},
	}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return fmt.Sprintf("the agent cannot find out whether it may change its Deployment: %s", reason(err))
	case !review.Status.Allowed:
		return fmt.Sprintf("the agent may not patch Deployment %s/%s: apply its manifest again, or upgrade it by `%s`",
			u.cfg.Namespace, u.cfg.Deployment, u.manual("IMAGE@DIGEST"))
	}
	return ""
}

// manual is what a person runs instead.
func (u *Upgrader) manual(image string) string {
	return fmt.Sprintf("kubectl -n %s set image deployment/%s %s=%s", u.cfg.Namespace, u.cfg.Deployment, u.cfg.Container, image)
}

// maxKeyFile bounds the file with keys.
const maxKeyFile = 64 << 10

func (u *Upgrader) keys() ([]crypto.PublicKey, error) {
	if u.cfg.KeyFile == "" {
		return nil, errors.New("the agent trusts no key for releases: start it with --release-keys FILE")
	}
	info, err := os.Stat(u.cfg.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read --release-keys: %w", err)
	}
	if info.Size() > maxKeyFile {
		return nil, fmt.Errorf("read --release-keys: %s has %d bytes, more than %d", u.cfg.KeyFile, info.Size(), maxKeyFile)
	}
	raw, err := os.ReadFile(u.cfg.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read --release-keys: %w", err)
	}
	keys, err := statement.ParseKeys(raw)
	if err != nil {
		return nil, fmt.Errorf("read --release-keys: %w", err)
	}
	return keys, nil
}

// Execute carries out an upgrade.
func (u *Upgrader) Execute(ctx context.Context, _ agentapi.Command, in agentapi.Upgrade) (any, error) {
	if u.cfg.Forbidden != "" {
		return nil, command.Refuse(agentapi.CodeUnsupported, "%s", u.cfg.Forbidden)
	}
	if in.Back {
		return u.back(ctx, in.Digest)
	}
	s, release, err := u.verify(in)
	if err != nil {
		return nil, err
	}
	deployment, err := u.cfg.Client.AppsV1().Deployments(u.cfg.Namespace).Get(ctx, u.cfg.Deployment, metav1.GetOptions{})
	if err != nil {
		return nil, command.Refuse(agentapi.CodeForbidden, "%s", u.explain(err))
	}
	at, before, err := u.container(deployment)
	if err != nil {
		return nil, command.Refuse(agentapi.CodeUnsupported, "%s", err)
	}
	image := repositoryOf(before) + "@" + in.Digest
	out := agentapi.Upgraded{Before: before, Image: image}
	if before == image {
		return out, nil
	}
	last, _, err := u.last(ctx)
	if err != nil {
		return nil, err
	}
	now := u.present(last)
	if now.issued.IsZero() {
		now.issued = deployment.CreationTimestamp.Time
	}
	if err := now.permits(&s, &release, in.AllowDowngrade); err != nil {
		return nil, err
	}
	// What is gone back to is what this process runs, with its digest: a tag may have moved since, and an upgrade that is under way
	// may have changed what the Deployment names.
	from := before
	if told := u.Told(agentapi.Versions{}).Image; digestOf(told) != "" {
		from = repositoryOf(before) + "@" + digestOf(told)
	}
	if err := u.note(ctx, note{
		Image: image, Before: from, State: statePending, Version: release.Version, VersionBefore: now.version, Minimum: release.Minimum,
		Floor: now.floor, Issued: s.Issued, IssuedBefore: now.issued,
	}); err != nil {
		return nil, err
	}
	if err := u.guard(ctx, deployment, at, from, image, in.Within); err != nil {
		out.Unguarded = err.Error()
		u.cfg.Log.Warn("the image before is not put back if the new agent does not connect", "err", err)
	} else {
		out.Guarded = true
	}
	u.cfg.Log.Info("upgrading the agent", "version", release.Version, "from", from, "to", image)
	return out, u.patch(ctx, at, before, image)
}

// verify judges what is asked for by the agent's own keys.
func (u *Upgrader) verify(in agentapi.Upgrade) (s statement.Statement, release statement.Release, err error) {
	keys, err := u.keys()
	if err != nil {
		return s, release, command.Refuse(agentapi.CodePolicy, "%s", err)
	}
	if s, err = statement.Verify(in.Statement, keys); err != nil {
		return s, release, command.Refuse(agentapi.CodePolicy, "%s: the agent runs images of signed releases only", err)
	}
	release, ok := s.Find(in.Digest)
	if !ok {
		return s, release, command.Refuse(agentapi.CodePolicy, "the signed statement of releases does not name the image %.80s", in.Digest)
	}
	if !release.RunsOn(u.cfg.Platform) {
		return s, release, command.Refuse(agentapi.CodePolicy, "the image of version %s is for %s, and this agent runs on %s: "+
			"use a release with an image for it", release.Version, strings.Join(release.Platforms, ", "), u.cfg.Platform)
	}
	return s, release, nil
}

// permits judges a release beside what the agent runs. A server that is broken into could ask for anything: below the floor nothing
// goes by a command, and an older version only by a statement that was signed after the one of the present version.
func (p *present) permits(s *statement.Statement, release *statement.Release, allowDowngrade bool) error {
	switch {
	case statement.Older(release.Version, p.floor):
		return command.Refuse(agentapi.CodePolicy, "version %s is below %s, the minimum of this agent: no command makes the agent run it",
			release.Version, p.floor)
	case !statement.Older(release.Version, p.version):
	case !allowDowngrade:
		return command.Refuse(agentapi.CodePolicy, "version %s is older than %s, which the agent runs: ask for the downgrade explicitly "+
			"(--allow-downgrade)", release.Version, p.version)
	case !s.Issued.After(p.issued):
		return command.Refuse(agentapi.CodePolicy, "version %s is older than %s, which the agent runs, and so is its signature: sign the "+
			"statement of %s again and add it (slipway agent release sign, slipway agent release add)", release.Version, p.version,
			release.Version)
	}
	return nil
}

// container finds the agent's container in its Deployment.
func (u *Upgrader) container(d *appsv1.Deployment) (at int, image string, err error) {
	for i, c := range d.Spec.Template.Spec.Containers {
		if c.Name == u.cfg.Container {
			return i, c.Image, nil
		}
	}
	return 0, "", fmt.Errorf("Deployment %s/%s has no container %s: name it by --container", u.cfg.Namespace, u.cfg.Deployment,
		u.cfg.Container)
}

// patch changes the image, if container and image are still what was read.
func (u *Upgrader) patch(ctx context.Context, at int, before, image string) error {
	path := fmt.Sprintf("/spec/template/spec/containers/%d", at)
	body, err := json.Marshal([]map[string]string{
		{"op": "test", "path": path + "/name", "value": u.cfg.Container},
		{"op": "test", "path": path + "/image", "value": before},
		{"op": "replace", "path": path + "/image", "value": image},
	})
	if err != nil {
		return fmt.Errorf("write the change of the image: %w", err)
	}
	_, err = u.cfg.Client.AppsV1().Deployments(u.cfg.Namespace).Patch(ctx, u.cfg.Deployment, types.JSONPatchType, body,
		metav1.PatchOptions{FieldManager: Manager})
	switch {
	case apierrors.IsForbidden(err):
		return command.Refuse(agentapi.CodeForbidden, "the agent may not patch Deployment %s/%s: apply its manifest again, or run `%s`",
			u.cfg.Namespace, u.cfg.Deployment, u.manual(image))
	case apierrors.IsInvalid(err), apierrors.IsConflict(err):
		return command.Refuse(agentapi.CodeConflict, "the image of Deployment %s/%s was changed in the meantime: try again",
			u.cfg.Namespace, u.cfg.Deployment)
	case err != nil:
		return fmt.Errorf("change the image of Deployment %s/%s: %w", u.cfg.Namespace, u.cfg.Deployment, err)
	}
	return nil
}

// explain says why the Deployment cannot be read, and what to do.
func (u *Upgrader) explain(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("there is no Deployment %s/%s that runs the agent: name it by --deployment, or upgrade the agent by hand",
			u.cfg.Namespace, u.cfg.Deployment)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the agent may not get Deployment %s/%s: apply its manifest again, or upgrade it by `%s`",
			u.cfg.Namespace, u.cfg.Deployment, u.manual("IMAGE@DIGEST"))
	}
	return fmt.Errorf("read Deployment %s/%s: %s", u.cfg.Namespace, u.cfg.Deployment, reason(err))
}

// reason is the error of an API server in few words.
func reason(err error) string {
	if said := apierrors.ReasonForError(err); said != metav1.StatusReasonUnknown {
		return string(said)
	}
	return "the API server does not answer"
}

// digestOf is the digest that a reference ends with; "" without one.
func digestOf(image string) string {
	if i := strings.LastIndexByte(image, '@'); i >= 0 && statement.ValidDigest(image[i+1:]) {
		return image[i+1:]
	}
	return ""
}

// repositoryOf is a reference without tag and digest.
func repositoryOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}
