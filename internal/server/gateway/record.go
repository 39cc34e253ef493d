package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Ledger is what is kept of operations.
type Ledger interface {
	// KeepRecords stores a batch in one transaction that first compares epoch (ErrFenced). A record that is there already
	// stays as it is.
	KeepRecords(ctx context.Context, uid string, epoch int64, b RecordBatch, now time.Time) (RecordAnswer, error)
}

// RecordBatch is an agent's checked report of operations.
type RecordBatch struct {
	Records  []Record
	Contents []Content
	Healthy  []agentapi.Healthy
	Known    []string
}

// Record is one operation under the id that its agent gave it.
type Record struct {
	ID string
	api.LedgerDetail
}

// Content is a manifest as it is stored: compressed by zstd.
type Content struct {
	Hash   string
	Packed []byte
	Size   int // in bytes, unpacked
	Images []string
}

// RecordAnswer is what came of a batch.
type RecordAnswer struct {
	// Lacks are hashes without a content, Unknown ids of Healthy and Known that are not there.
	Lacks, Unknown []string
	// Added are the entries that were not there before, and those that have become healthy.
	Added []api.LedgerEntry
}

// Bounds of texts in records.
const (
	maxOptions  = 100
	maxSources  = 100
	maxNotes    = 20
	maxImages   = 100
	maxRevision = 500
	// maxValues is how many values an entry may have in JSON: each takes memory, however few bytes it is written in. An
	// object has seven, a change nine.
	maxValues = 10*api.MaxLedgerObjects + 20*api.MaxLedgerChanges + 10_000
	// maxUnpacked is how much the entries of one message may be together, unpacked, in bytes; maxContents how much its
	// contents. What an agent makes of its work is a tenth of that.
	maxUnpacked = 2 * agentapi.MaxRecordJSON
	maxContents = 64 * agentapi.MaxContent
	// clockAhead is how far in the future a record may end: its age decides how long it is kept.
	clockAhead = 5 * time.Minute
)

// record takes Records.
func (k *copies) record(ctx context.Context, uid string, in *agentapi.Records) agentapi.RecordAck {
	s := k.sessions.of(uid, in.Epoch)
	switch {
	case s == nil:
		return agentapi.RecordAck{Error: fenced()}
	case k.cfg.Ledger == nil:
		return agentapi.RecordAck{Error: malformed(errors.New("this server keeps no ledger"))}
	case len(in.Records) > agentapi.MaxRecords || len(in.Contents) > agentapi.MaxContents || len(in.Known)+len(in.Healthy) > agentapi.MaxKnown:
		return agentapi.RecordAck{Error: malformed(errors.New("it has too many records"))}
	}
	var ack agentapi.RecordAck
	var b RecordBatch
	now := k.cfg.Now()
	reject := func(id string, err error) {
		k.cfg.Log.Warn("a record of an agent cannot be kept", "agent", s.agent.ID, "record", line(id, maxName), "why", err)
		ack.Rejected = append(ack.Rejected, agentapi.RejectedRecord{ID: id, Message: err.Error()})
	}
	left, leftOfContents := maxUnpacked, maxContents
	for _, r := range in.Records {
		detail, err := readRecord(r, now, &left)
		if err != nil {
			reject(r.ID, err)
			continue
		}
		b.Records = append(b.Records, Record{ID: r.ID, LedgerDetail: *detail})
	}
	for _, c := range in.Contents {
		content, err := readContent(c, &leftOfContents)
		if err != nil {
			reject(c.Hash, err)
			continue
		}
		b.Contents = append(b.Contents, content)
	}
	for _, h := range in.Healthy {
		if isHash(h.ID) && proper(h.At) {
			b.Healthy = append(b.Healthy, agentapi.Healthy{ID: h.ID, At: earliest(h.At, now.Add(clockAhead))})
		}
	}
	for _, id := range in.Known {
		if isHash(id) {
			b.Known = append(b.Known, id)
		}
	}
	answer, err := k.cfg.Ledger.KeepRecords(ctx, uid, in.Epoch, b, now)
	if err != nil {
		return agentapi.RecordAck{Error: k.presence.fault(k.cfg.Log, uid, "keep what was done", err)}
	}
	ack.Lacks, ack.Unknown = answer.Lacks, answer.Unknown
	return ack
}

// unpack reverses zstd, up to a limit and to what is left for all of a message.
func unpack(data []byte, limit int, left *int) ([]byte, error) {
	if limit = min(limit, *left); limit <= 0 {
		return nil, errors.New("the message is too large, unpacked")
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
	if err != nil {
		return nil, fmt.Errorf("make a decoder: %w", err)
	}
	defer d.Close()
	out, err := d.DecodeAll(data, nil)
	if err != nil {
		*left -= limit // it was still work
		return nil, errors.New("it cannot be unpacked, or is too large")
	}
	*left -= len(out)
	return out, nil
}

// readRecord unpacks a record and checks what it says.
func readRecord(r agentapi.Record, now time.Time, left *int) (*api.LedgerDetail, error) {
	if !isHash(r.ID) {
		return nil, errors.New("the id is not 1 to 64 hexadecimal digits")
	}
	if len(r.Body) > agentapi.MaxRecord {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(r.Body), agentapi.MaxRecord)
	}
	raw, err := unpack(r.Body, agentapi.MaxRecordJSON, left)
	if err == nil {
		raw = legible.JSON(raw)
		err = checkJSON(raw, agentapi.MaxRecordJSON)
	}
	if err == nil && breadth(raw) > maxValues {
		err = fmt.Errorf("it has more than %d values", maxValues)
	}
	if err != nil {
		return nil, err
	}
	d := &api.LedgerDetail{}
	if err := strict.Decode(raw, d, strict.Unknown); err != nil {
		return nil, errors.New("it is no JSON of the expected shape")
	}
	if err := checkRecord(d, now); err != nil {
		return nil, err
	}
	if r.Lost > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d manifests are missing: the server was away for so long that the agent could not keep them",
			r.Lost))
	}
	if r.Before > 0 {
		d.Notes = append(d.Notes,
			fmt.Sprintf("%d entries before this one are missing: the server was away for so long that the agent could not keep them", r.Before))
	}
	return d, nil
}

func checkRecord(d *api.LedgerDetail, now time.Time) error {
	known := []string{api.LedgerSync, api.LedgerRollback, api.LedgerRestore, api.LedgerDryRun, api.LedgerPartial, api.LedgerDelete}
	switch {
	case !isName(d.Name) || !isName(d.Namespace):
		return errors.New("the name or the namespace of the application cannot be")
	case !slices.Contains(known, d.Action):
		return fmt.Errorf("action %.40q is unknown", d.Action)
	case d.Phase != "Succeeded" && d.Phase != "Failed" && d.Phase != "Error":
		return fmt.Errorf("phase %.40q is not that of an end", d.Phase)
	case !proper(d.StartedAt) || !proper(d.FinishedAt):
		return errors.New("it has no proper times")
	case len(d.Objects) > api.MaxLedgerObjects || len(d.Changes) > api.MaxLedgerChanges:
		return errors.New("it has too many objects")
	case len(d.Sources) > maxSources || len(d.Notes) > maxNotes || len(d.Decisions) > maxNotes:
		return errors.New("it has too many sources, decisions or notes")
	}
	ends := now.Add(clockAhead)
	for _, at := range []*time.Time{&d.DetectedAt, &d.RenderedAt, &d.StartedAt, &d.AppliedAt, &d.FinishedAt, &d.HealthyAt} {
		if !at.IsZero() && !proper(*at) {
			*at = time.Time{}
		}
		*at = earliest(*at, ends)
	}
	for i := range d.Objects {
		if o := &d.Objects[i]; !isObject(o.LedgerKey) || len(o.Hash) != hex.EncodedLen(sha256.Size) || !isHash(o.Hash) {
			return fmt.Errorf("object %.200q or its hash cannot be", o.String())
		}
		d.Objects[i].Images, d.Objects[i].Lacking = nil, false // shown by the content
	}
	for i := range d.Changes {
		c := &d.Changes[i]
		if !isObject(c.LedgerKey) || !slices.Contains([]string{api.LedgerCreated, api.LedgerChanged, api.LedgerDeleted}, c.Verb) {
			return fmt.Errorf("the change of %.200q cannot be", c.String())
		}
		c.Outcome, c.Hook, c.Message = line(c.Outcome, 40), line(c.Hook, 40), line(c.Message, agentapi.MaxText)
	}
	trim(d)
	return nil
}

// trim makes the texts of a record proper ones.
func trim(d *api.LedgerDetail) {
	for _, text := range []*string{&d.ApplicationUID, &d.ArgoProject, &d.Engine, &d.Actor, &d.Command, &d.Health} {
		*text = line(*text, maxName)
	}
	d.Revision, d.Destination = line(d.Revision, maxRevision), line(d.Destination, maxRevision)
	d.Reason, d.Message = line(d.Reason, agentapi.MaxText), line(d.Message, agentapi.MaxText)
	for i := range d.Sources {
		s := &d.Sources[i]
		for _, text := range []*string{&s.RepoURL, &s.Path, &s.Chart, &s.TargetRevision, &s.Revision, &s.Before, &s.Tool} {
			*text = line(*text, maxRevision)
		}
	}
	if c := d.Commit; c != nil {
		c.Author, c.Subject = line(c.Author, maxRevision), line(c.Subject, maxRevision)
		if !c.CommittedAt.IsZero() && !proper(c.CommittedAt) {
			c.CommittedAt = time.Time{}
		}
	}
	if o := d.Options; o != nil {
		for _, list := range []*[]string{&o.SyncOptions, &o.Resources} {
			*list = (*list)[:min(len(*list), maxOptions)]
			for i := range *list {
				(*list)[i] = line((*list)[i], maxRevision)
			}
		}
	}
	for i := range d.Decisions {
		x := &d.Decisions[i]
		x.Gate, x.Outcome, x.Message = line(x.Gate, 40), line(x.Outcome, 40), line(x.Message, agentapi.MaxText)
	}
	for i := range d.Notes {
		d.Notes[i] = line(d.Notes[i], maxRevision)
	}
	for _, n := range []*int{&d.Counts.Created, &d.Counts.Changed, &d.Counts.Deleted, &d.Counts.Unchanged, &d.Counts.Failed, &d.Repeats} {
		*n = min(max(*n, 0), 1_000_000)
	}
}

// isObject reports whether a key can be that of an object.
func isObject(k api.LedgerKey) bool {
	plain := func(s string) bool { return isName(s) && !slices.Contains([]byte(s), '/') }
	return plain(k.Kind) && plain(k.Name) && (k.Group == "" || plain(k.Group)) && (k.Namespace == "" || plain(k.Namespace))
}

func proper(t time.Time) bool { return !t.IsZero() && t.Year() >= 1970 && t.Year() <= 9999 }

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// readContent checks that a content is what its hash says.
func readContent(c agentapi.Content, left *int) (Content, error) {
	raw, err := unpack(c.Body, agentapi.MaxContent, left)
	if err == nil {
		err = checkJSON(raw, agentapi.MaxContent)
	}
	if err != nil {
		return Content{}, err
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != c.Hash {
		return Content{}, errors.New("the content is not that of its hash")
	}
	return Content{Hash: c.Hash, Packed: c.Body, Size: len(raw), Images: imagesOf(raw)}, nil
}

// imagesOf lists the container images of a workload: those of its pod template, or of the pod itself.
func imagesOf(raw []byte) []string {
	type container struct {
		Image string `json:"image"`
	}
	type pod struct {
		InitContainers []container `json:"initContainers"`
		Containers     []container `json:"containers"`
	}
	type workload struct {
		pod
		Template struct {
			Spec pod `json:"spec"`
		} `json:"template"`
	}
	var obj struct {
		Spec struct {
			workload
			JobTemplate struct {
				Spec workload `json:"spec"`
			} `json:"jobTemplate"`
		} `json:"spec"`
	}
	if strict.Decode(raw, &obj, strict.Foreign) != nil {
		return nil // any object may have any shape
	}
	var out []string
	for _, p := range []pod{obj.Spec.pod, obj.Spec.Template.Spec, obj.Spec.JobTemplate.Spec.pod, obj.Spec.JobTemplate.Spec.Template.Spec} {
		for _, c := range slices.Concat(p.InitContainers, p.Containers) {
			if image := line(c.Image, maxRevision); image != "" && !slices.Contains(out, image) && len(out) < maxImages {
				out = append(out, image)
			}
		}
	}
	return out
}
