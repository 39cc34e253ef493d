package agentapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// Kind is what a command does.
type Kind string

// The kinds of commands.
const (
	KindSync      Kind = "application.sync"
	KindRefresh   Kind = "application.refresh"
	KindTerminate Kind = "application.terminate"
	KindRollback  Kind = "application.rollback"
	KindUnpin     Kind = "application.unpin"
	KindConfirm   Kind = "application.confirm"
	KindRestore   Kind = "application.restore"
	KindRevert    Kind = "application.revert"
	KindAllow     Kind = "application.allow"
	KindAppDelete Kind = "application.delete"
	KindDiff      Kind = "application.diff"
	KindTree      Kind = "application.tree"
	KindManifests Kind = "application.manifests"
	KindPlan      Kind = "application.plan"
	KindOperation Kind = "application.operation"
	KindRevisions Kind = "application.revisions"

	// KindFindings says what fails in the cluster. The Body is an api.FindingsRequest.
	KindFindings Kind = "application.findings"
	// KindTips says where the branches of an Application are. It has no body.
	KindTips Kind = "application.tips"
	// KindLinks says which links settings give. The Target is an Application or an AppProject, the Body an api.LinksRequest.
	KindLinks Kind = "links.list"

	// KindPreview says what an Application would do. The Target names it, the Body is a Preview.
	KindPreview Kind = "application.preview"

	// What a repository has. The Target has the namespace of the Application that it is looked at for; the Body is an
	// api.RepositoryRefsRequest or an api.RepositoryPathsRequest.
	KindRepositoryRefs  Kind = "repository.refs"
	KindRepositoryPaths Kind = "repository.paths"

	// KindTreeWatch opens a stream of the events of a live tree (TreeWriter). It has no body.
	KindTreeWatch Kind = "application.tree.watch"

	// The Body of these is an ObjectApply, ObjectPatch or ObjectDelete; the Target names the object.
	KindObjectApply  Kind = "object.apply"
	KindObjectPatch  Kind = "object.patch"
	KindObjectDelete Kind = "object.delete"

	// The Target of these is the Application; the Body names the object within it.
	KindResourceGet      Kind = "resource.get"
	KindResourcePatch    Kind = "resource.patch"
	KindResourceDelete   Kind = "resource.delete"
	KindResourceActions  Kind = "resource.actions"
	KindResourceAction   Kind = "resource.action"
	KindResourceEvents   Kind = "resource.events"
	KindResourceLogs     Kind = "resource.logs"
	KindResourceTerminal Kind = "resource.terminal"

	// The Body of these is a SettingChange.
	KindSettingsApply  Kind = "settings.apply"
	KindSettingsDelete Kind = "settings.delete"
	KindSettingsTest   Kind = "settings.test"

	// KindRotate asks the agent for a new key. It has no body.
	KindRotate Kind = "agent.rotate"
	// KindUpgrade has the agent run another image. The Body is an Upgrade.
	KindUpgrade Kind = "agent.upgrade"
)

// Nature is how a kind of command is carried out.
type Nature int

// The natures of commands.
const (
	// Unknown is that of a kind that does not exist.
	Unknown Nature = iota
	// Reads is that of a command that changes nothing. It is not kept, and its Result comes in Parts on UpReply.
	Reads
	// Changes is that of a command that is kept until its Result is there, sent again where that is in doubt, and done at
	// most once. Its Result comes on UpResult.
	Changes
	// Streams is that of a command that opens a stream (Command.Stream). It is not kept; its end is the end of the stream.
	Streams
)

// String is the nature in a word, as metrics have it: reads, changes, or other.
func (n Nature) String() string {
	switch n {
	case Reads:
		return "reads"
	case Changes:
		return "changes"
	}
	return "other"
}

// Nature returns how commands of a kind are carried out; Unknown for a kind that does not exist.
func (k Kind) Nature() Nature {
	switch k {
	case KindSync, KindRefresh, KindTerminate, KindRollback, KindUnpin, KindConfirm, KindRestore, KindRevert, KindAllow, KindAppDelete,
		KindObjectApply, KindObjectPatch, KindObjectDelete,
		KindResourcePatch, KindResourceDelete, KindResourceAction,
		KindSettingsApply, KindSettingsDelete, KindRotate, KindUpgrade:
		return Changes
	case KindDiff, KindTree, KindManifests, KindPreview, KindPlan, KindOperation, KindRevisions, KindFindings, KindTips, KindLinks,
		KindRepositoryRefs, KindRepositoryPaths,
		KindResourceGet, KindResourceActions, KindResourceEvents, KindSettingsTest:
		return Reads
	case KindResourceLogs, KindResourceTerminal, KindTreeWatch:
		return Streams
	}
	return Unknown
}

// Trial reports whether a command only tries a change, by the field dryRun of its body. A sync is not one: its dry run is an
// operation of the Application, which its history and the ledger have.
func Trial(kind Kind, body json.RawMessage) bool {
	if kind.Nature() != Changes || kind == KindSync {
		return false
	}
	var b struct {
		DryRun bool `json:"dryRun"`
	}
	return strict.Decode(body, &b, strict.Unknown) == nil && b.DryRun
}

// Command is what a person or a program asks of an agent. It comes down in a Signed.
type Command struct {
	// ID is unique for ever (ValidID). An agent carries out a command that changes something at most once for each id.
	ID string `json:"id"`
	// Agent is the uid of the agent that it is for.
	Agent string `json:"agent"`
	// Epoch is that of the session it is sent in. The same command has another one when it is sent again later.
	Epoch  int64  `json:"epoch"`
	Kind   Kind   `json:"kind"`
	Target Target `json:"target"`
	// Body has the shape that the kind says; empty where it says none.
	Body json.RawMessage `json:"body,omitempty"`
	// Judged says what rights were asked for. A command that has it has a Body in normal form, and the agent refuses one that
	// is not, or that meets something else than what was judged. An older server sends none.
	Judged *JudgedProject `json:"judged,omitempty"`
	// User is the author of the request, "user:anna" or "serviceaccount:account.ci".
	User   string   `json:"user"`
	Groups []string `json:"groups,omitempty"`
	// Reason is the user's reason.
	Reason string `json:"reason,omitempty"`
	// Issued is when it was asked.
	Issued time.Time `json:"issued"`
	// Deadline is when it must have been begun. Later it is refused with StatusExpired. A command may be sent again after
	// its deadline, to learn what became of it: an agent that knows it reports what it knows.
	Deadline time.Time `json:"deadline"`
	// Origin is the id of the request to the server.
	Origin string `json:"origin,omitempty"`
	// Traceparent is the trace that it belongs to (W3C Trace Context); empty where there is none.
	Traceparent string `json:"traceparent,omitempty"`
	// Stream is the id of the stream that a command of the nature Streams opens.
	Stream string `json:"stream,omitempty"`
	// Credit is how many bytes of Data the agent may send on the stream before the server grants more.
	Credit int `json:"credit,omitempty"`
}

// JudgedProject is what a server asked rights for before it signed a command: an Argo project stands for all that rights depend on.
type JudgedProject struct {
	// There is the project of what is there, as far as the server knows it. Where it is empty, rights were asked for all
	// projects of the agent, or nothing was there.
	There string `json:"there,omitempty"`
	// Wanted is the project of what a command writes. Where it is empty, rights were asked for all projects of the agent.
	Wanted string `json:"wanted,omitempty"`
}

// Target is what a command is about: an item, or nothing where the command is about the agent.
type Target struct {
	Kind      ItemKind `json:"kind,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name,omitempty"`
}

// Status is how far a command is.
type Status string

// The statuses of commands. An agent reports the last five.
const (
	// StatusPending is that of a command that waits for its agent to connect.
	StatusPending Status = "pending"
	// StatusSent is that of a command that was sent and not answered yet.
	StatusSent Status = "sent"
	// StatusDone means that it was carried out.
	StatusDone Status = "done"
	// StatusFailed means that it was tried and did not work.
	StatusFailed Status = "failed"
	// StatusRefused means that the agent did not try it.
	StatusRefused Status = "refused"
	// StatusExpired means that the deadline passed before it was begun.
	StatusExpired Status = "expired"
	// StatusUnknown means that it was begun, and that it is not known how far it came.
	StatusUnknown Status = "unknown"
)

// Final reports whether the status is the last one of its command.
func (s Status) Final() bool {
	switch s {
	case StatusDone, StatusFailed, StatusRefused, StatusExpired, StatusUnknown:
		return true
	case StatusPending, StatusSent:
	}
	return false
}

// Result is what came of a command.
type Result struct {
	// ID is that of the command.
	ID     string `json:"id"`
	Status Status `json:"status"`
	// Code says more where the status is not StatusDone.
	Code Code `json:"code,omitempty"`
	// Message is for people. It holds no secret.
	Message string `json:"message,omitempty"`
	// Body has the shape that the kind says.
	Body     json.RawMessage `json:"body,omitempty"`
	Finished time.Time       `json:"finished,omitzero"`
}

// ResultReport brings the Result of a command that is kept.
type ResultReport struct {
	Epoch  int64  `json:"epoch"`
	Result Result `json:"result"`
}

// ResultAck is the answer to a ResultReport. Without an error the agent need not remember the result any longer than its
// journal does. A command that the server does not know is acknowledged too.
type ResultAck struct {
	Error *Error `json:"error,omitempty"`
}

// Part is a piece of the Result of a command that only reads.
type Part struct {
	Epoch int64 `json:"epoch"`
	// Index counts from 0.
	Index int `json:"index"`
	// Last says that there are no more.
	Last bool `json:"last"`
	// Data is a piece of the Result as JSON.
	Data []byte `json:"data"`
}

const partSize = 384 << 10

// Split makes the Parts of a Result. One that is larger than MaxReply is an error.
func Split(epoch int64, result Result) ([]Part, error) {
	data, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("write result of command %s: %w", result.ID, err)
	}
	if len(data) > MaxReply {
		return nil, fmt.Errorf("the result of command %s has %d bytes and may have %d: ask for less", result.ID, len(data), MaxReply)
	}
	var parts []Part
	for {
		n := min(len(data), partSize)
		parts = append(parts, Part{Epoch: epoch, Index: len(parts), Last: n == len(data), Data: data[:n]})
		if data = data[n:]; len(data) == 0 {
			return parts, nil
		}
	}
}

// Joiner puts the Parts of one Result together again. The zero value waits for the first.
type Joiner struct {
	data []byte
	next int
}

// Add takes the next part and returns the Result when it was the last. A part out of order, and more than MaxReply, are
// errors.
func (j *Joiner) Add(part Part) (*Result, error) {
	switch {
	case part.Index != j.next:
		return nil, fmt.Errorf("part %d of a result came where part %d was due", part.Index, j.next)
	case len(j.data)+len(part.Data) > MaxReply:
		return nil, fmt.Errorf("a result has more than %d bytes", MaxReply)
	case len(part.Data) == 0:
		return nil, errors.New("a part of a result is empty")
	}
	j.data, j.next = append(j.data, part.Data...), j.next+1
	if !part.Last {
		return nil, nil //nolint:nilnil // not there yet, and nothing is wrong
	}
	var result Result
	if err := strict.Decode(j.data, &result, strict.Unknown, strict.Envelope); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	return &result, nil
}
