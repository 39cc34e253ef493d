package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
	"github.com/slipway-gitops/slipway/internal/integrity/notation"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/source/turn"
)

// fieldSigners is the key of the ConfigMap of allowed signers.
const fieldSigners = "allowed_signers"

// Bounds of what Trust remembers. What is dropped is judged again.
const (
	maxVerdicts = 10_000
	maxTrusted  = 500_000          // commits whose history was verified
	verdictLife = 10 * time.Minute // keys expire
	trustedLife = time.Hour
	maxTags     = 100 // that may have led to one commit
)

// Trust judges revisions of repositories by the keys in the settings.
type Trust struct {
	sources  *Sources
	settings *Settings
	log      *slog.Logger

	mu       sync.Mutex
	version  uint64 // of the settings that keys is of
	keys     *integrity.Keyring
	cosign   []cosign.Key
	roots    []cosign.Root
	edition  string // of cosign and roots
	misnamed bool   // the ConfigMap of allowed signers has entries, and not the one that is read
	stores   *notation.Stores
	signed   map[string]signedBy
	asking   turn.Turns // one for each question about an artifact
	verdicts map[string]judged
	trusted  map[string]bool // history, with policy and keys -> verified as far as strict mode asks
	began    time.Time       // when trusted was empty

	turns turn.Turns // by scope of a repository, to read its history: what one verifies the next one finds
}

// judged is a verdict, and when it was reached.
type judged struct {
	integrity.Verdict
	at time.Time
}

var _ trust.Judge = (*Trust)(nil)

// NewTrust judges what sources fetch.
func NewTrust(sources *Sources, s *Settings, log *slog.Logger) *Trust {
	return &Trust{sources: sources, settings: s, log: log, verdicts: map[string]judged{}, trusted: map[string]bool{}}
}

// Refresh reads the keys again, and reports whether they are others than before. Their mistakes are logged.
func (t *Trust) Refresh() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	version := t.settings.Version() // before they are read: at worst they are read again
	if t.keys != nil && t.version == version {
		return false
	}
	signers := t.settings.Config(ConfigSigners)
	keys := integrity.NewKeyring(t.settings.Config(ConfigGPGKeys), signers[fieldSigners])
	t.version = version
	artifacts := readArtifactTrust(t.settings.Config(ConfigArtifacts))
	stores := notation.ReadStores(t.settings.Config(ConfigTrustStores))
	_, named := signers[fieldSigners]
	misnamed := !named && len(signers) > 0
	if t.keys != nil && t.keys.Edition() == keys.Edition() && t.edition == artifacts.edition && t.stores.Edition() == stores.Edition() &&
		t.misnamed == misnamed {
		return false
	}
	changed := t.keys != nil
	t.cosign, t.roots, t.edition = artifacts.keys, artifacts.roots, artifacts.edition
	t.stores, t.signed = stores, map[string]signedBy{}
	t.keys, t.verdicts, t.trusted, t.began = keys, map[string]judged{}, map[string]bool{}, time.Now()
	faults := slices.Concat(keys.Faults(), artifacts.faults, stores.Faults())
	if t.misnamed = misnamed; misnamed {
		faults = append(faults, ConfigSigners+" has no entry "+fieldSigners+", and no other one is read: rename it")
	}
	for _, fault := range faults {
		t.log.Warn("a signing key is not used", "reason", fault)
	}
	return changed
}

// keyring returns the keys in force.
func (t *Trust) keyring() *integrity.Keyring {
	t.Refresh()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys
}

// Judge implements trust.Judge.
func (t *Trust) Judge(ctx context.Context, claim trust.Claim) (string, error) {
	if IsArtifact(claim.Source) {
		return t.proven(ctx, claim)
	}
	repo, _, err := t.sources.Repo(claim.Project, claim.Source)
	if err != nil {
		return "", err
	}
	back := registry.LeaveAfter(ctx, slowSource)
	defer back()
	end, err := t.turns.Take(ctx, repo.Scope())
	if err != nil {
		return "", err
	}
	defer end()
	tags, err := tagsOf(ctx, repo, claim)
	if err != nil {
		return "", err
	}
	var first integrity.Verdict
	for i, tag := range tags {
		v, err := t.judge(ctx, repo, claim, tag)
		if err != nil {
			return "", err
		}
		if v.Verified() {
			return v.Signer.String(), nil
		}
		if i == 0 {
			first = v
		}
	}
	return "", errors.New(first.Text())
}

// tagsOf returns what may be signed for a commit to be trusted: the annotated tags that led to it, or the commit itself, which
// is a Tag without a name. A source that names a commit takes its signature, or that of a tag by which it was found before.
func tagsOf(ctx context.Context, repo *gitsource.Repo, claim trust.Claim) ([]gitsource.Tag, error) {
	own := gitsource.Revision{Name: claim.Source.TargetRevision, TagPrefix: claim.Source.TagPrefix}
	if _, err := git.ParseID(own.Name); err != nil {
		tags, err := gitsource.SignedIn(repo).Tags(ctx, own, claim.Revision)
		if err == nil && len(tags) == 0 {
			tags = []gitsource.Tag{{}}
		}
		return tags, err
	}
	out := []gitsource.Tag{{}}
	for _, name := range claim.Names {
		tags, err := gitsource.SignedIn(repo).Tags(ctx, gitsource.Revision{Name: name.Revision, TagPrefix: name.TagPrefix}, claim.Revision)
		if err != nil {
			return nil, err
		}
		for _, tag := range tags {
			if len(out) < maxTags && !slices.ContainsFunc(out, func(had gitsource.Tag) bool { return had.ID == tag.ID && had.Name == tag.Name }) {
				out = append(out, tag)
			}
		}
	}
	return out, nil
}

// judge judges a commit, or a tag that leads to it.
func (t *Trust) judge(ctx context.Context, repo *gitsource.Repo, claim trust.Claim, tag gitsource.Tag) (integrity.Verdict, error) {
	keys := t.keyring()
	policy := integrity.Policy{Mode: integrity.Mode(claim.Policy.Mode), Keys: claim.Policy.Keys, Signers: claim.Policy.Signers}
	edition, err := json.Marshal([]any{repo.Scope(), keys.Edition(), policy})
	if err != nil {
		return integrity.Verdict{}, err
	}
	sum := sha256.Sum256(edition)
	rules := hex.EncodeToString(sum[:16]) + " "
	about := rules + claim.Revision + " " + tag.ID + " " + tag.Name
	now := time.Now()
	t.mu.Lock()
	had, known := t.verdicts[about]
	if now.Sub(t.began) > trustedLife {
		t.trusted, t.began = map[string]bool{}, now
	}
	t.mu.Unlock()
	if known && now.Sub(had.at) < verdictLife {
		return had.Verdict, nil
	}
	var read []string
	v, err := integrity.Judge(integrity.Question{
		Policy: policy, Keys: keys, Commit: claim.Revision, Tag: tag.Data, Name: tag.Name, Now: now,
		Read: func(id string) ([]byte, error) {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			read = append(read, id)
			return gitsource.SignedIn(repo).Raw(id) //nolint:contextcheck // it reads a copy on disk, which always ends
		},
		Known: func(id string) bool {
			t.mu.Lock()
			defer t.mu.Unlock()
			return t.trusted[rules+id]
		},
	})
	if err != nil {
		return v, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.verdicts) >= maxVerdicts {
		clear(t.verdicts)
	}
	t.verdicts[about] = judged{v, now}
	if v.Verified() && policy.Mode == integrity.Strict {
		if len(t.trusted)+len(read) > maxTrusted {
			clear(t.trusted)
		}
		for _, id := range read { // all that was read is verified, and so is all before it
			t.trusted[rules+id] = true
		}
	}
	return v, nil
}
