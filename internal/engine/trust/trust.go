// Package trust asks for the signatures of the revisions of an Application, as far as its project asks for them, before anything
// of them is rendered. A revision that is not verified is not deployed, and nothing is deleted because of it.
package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Judge judges revisions by their signatures.
type Judge interface {
	// Judge returns the signer of a revision, in words. The error says why it must not be deployed, and what to do.
	Judge(ctx context.Context, claim Claim) (signer string, err error)
}

// Claim is a revision of a source whose project asks for signatures.
type Claim struct {
	Project  string
	Source   v1alpha1.ApplicationSource
	Revision string            // full id of the commit, or the version of a chart
	Digest   string            // of an artifact; "" in Git
	Names    []Name            // by which the source, its specification or its history leads to the commit
	Policy   project.Integrity // what the project asks for
}

// Name is a revision as a source names it: a branch, a tag, a range of versions.
type Name struct{ Revision, TagPrefix string }

// ErrPolicy is in errors that the project has to be corrected for.
var ErrPolicy = errors.New("the project's policies for signatures cannot be kept")

// ErrLocal is why manifests that an operation contains are refused, in the words of Argo CD with their capital letter.
var ErrLocal = errors.New("Cannot use local manifests when source integrity is enforced: " +
	"its project asks for signed sources, and the manifests of the operation have no signature; commit and sign them, and sync the commit")

const (
	maxSigner = 500 // bytes of what is shown of a signer
	maxNames  = 20  // by which a commit may have been found
)

// Check asks about one Application, and keeps the answers.
type Check struct {
	Judge Judge // nil: what asks for signatures is refused
	Rules *project.Rules
	App   *v1alpha1.Application

	sources, needs []string // who signed them
}

// Verify asks for the signatures of the revisions that are deployed.
func (c *Check) Verify(ctx context.Context, sources []v1alpha1.ApplicationSource, fetched []supply.Fetched) error {
	var err error
	c.sources, err = c.Signers(ctx, sources, fetched)
	return err
}

// Needed keeps who signed what the sources need, as Need said.
func (c *Check) Needed(signers []string) { c.needs = signers }

// signed says who signed what is deployed.
func (c *Check) signed() string {
	if c == nil {
		return ""
	}
	return strings.Join(append(slices.Clone(c.sources), c.needs...), "; ")
}

// Signers says who signed the revisions of sources; nothing where the project asks for no signature.
func (c *Check) Signers(ctx context.Context, sources []v1alpha1.ApplicationSource, fetched []supply.Fetched) ([]string, error) {
	var out []string
	for i, src := range sources {
		said, err := c.one(ctx, src, fetched[i])
		if err != nil {
			if len(sources) > 1 {
				err = fmt.Errorf("%w (source %d of %d)", err, i+1, len(sources))
			}
			return nil, err
		}
		if said != "" && !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	if op := c.App.Operation; len(out) > 0 && op != nil && op.Sync != nil && len(op.Sync.Manifests) > 0 {
		return nil, ErrLocal
	}
	return out, nil
}

// Need says who signed what a source needs from elsewhere; "" where the project does not ask. A file by URL has no signature.
func (c *Check) Need(ctx context.Context, n need.Need, f supply.Fetched) (string, error) {
	if n.Kind != need.File {
		return c.one(ctx, n.Source(), f)
	}
	policy, err := c.Rules.Integrity(v1alpha1.ApplicationSource{RepoURL: n.URL})
	if err != nil {
		return "", policyError{err}
	}
	if policy.Asks() {
		return "", fmt.Errorf("URL: Failed verifying %s: a file by URL has no signature, and project %q asks for one; "+
			"copy the file into a repository whose commits are signed, or have the project exclude its address with \"!\"",
			redact.Addresses(n.URL), c.App.Spec.ProjectName())
	}
	return "", nil
}

// one says who signed a revision of a source; "" where the project does not ask.
func (c *Check) one(ctx context.Context, src v1alpha1.ApplicationSource, f supply.Fetched) (string, error) {
	policy, err := c.Rules.Integrity(src)
	if err != nil {
		return "", policyError{err}
	}
	if !policy.Asks() {
		return "", nil
	}
	revision := f.Tree.Revision()
	signer, err := c.signer(ctx, Claim{
		Project: c.App.Spec.ProjectName(), Source: src, Revision: revision, Digest: f.Digest, Names: c.names(src, revision), Policy: policy,
	})
	if err != nil {
		return "", err
	}
	what := decide.Short([]string{revision})
	if f.Digest != "" && f.Digest != revision {
		what += " (" + legible.Revision(f.Digest, 12) + ")"
	}
	return fmt.Sprintf("%s is signed by %s", what, legible.Line(signer, maxSigner)), nil
}

func (c *Check) signer(ctx context.Context, claim Claim) (string, error) {
	if c.Judge == nil {
		return "", policyError{errors.New("the project asks for signed sources, and this engine verifies none: use another project")}
	}
	return c.Judge.Judge(ctx, claim)
}

// names are the revisions that may have led to a commit: an operation that goes on and a rollback name the commit alone, and
// it may be the tag that is signed. Each is looked for among all tags of the repository, and who may write the Application writes
// them, so that the first maxNames count: those of the specification, then those of the newest deployments.
func (c *Check) names(src v1alpha1.ApplicationSource, commit string) []Name {
	var out []Name
	add := func(list ...v1alpha1.ApplicationSource) {
		for _, s := range list {
			name := Name{s.TargetRevision, s.TagPrefix}
			if len(out) < maxNames && s.RepoURL == src.RepoURL && s.TargetRevision != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	add(src)
	add(c.App.Spec.EffectiveSources()...)
	for _, h := range slices.Backward(c.App.Status.History) {
		if h.Revision == commit {
			add(h.Source)
		}
		for i, r := range h.Revisions {
			if r == commit && i < len(h.Sources) {
				add(h.Sources[i])
			}
		}
	}
	return out
}

// Notes are the conditions of an Application whose sources were verified.
func (c *Check) Notes() []v1alpha1.ApplicationCondition {
	signed := c.signed()
	if signed == "" {
		return nil
	}
	return []v1alpha1.ApplicationCondition{{Type: v1alpha1.ConditionVerified, Message: signed}}
}

// Verdicts say for the ledger who signed what an operation deployed.
func (c *Check) Verdicts() []decide.Verdict {
	signed := c.signed()
	if signed == "" {
		return nil
	}
	return []decide.Verdict{{Gate: decide.GateSignature, Outcome: decide.Allowed, Message: signed}}
}

// policyError is an error of the project itself.
type policyError struct{ error }

// Is reports whether the error is ErrPolicy.
func (e policyError) Is(target error) bool { return target == ErrPolicy }
