package agentapi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// ItemKind is the kind of something that the server keeps a copy of.
type ItemKind string

// The kinds of items.
const (
	ItemApplication    ItemKind = "application"
	ItemApplicationSet ItemKind = "applicationset"
	ItemArgoProject    ItemKind = "argoproject"
	ItemRepository     ItemKind = "repository"
	ItemRepoCreds      ItemKind = "repocreds"
	ItemCluster        ItemKind = "cluster"
	ItemCertificate    ItemKind = "certificate"
	ItemGPGKey         ItemKind = "gpgkey"
	ItemInstances      ItemKind = "instances"
)

// ItemKinds returns all kinds of items.
func ItemKinds() []ItemKind {
	return []ItemKind{
		ItemApplication, ItemApplicationSet, ItemArgoProject, ItemRepository, ItemRepoCreds, ItemCluster, ItemCertificate, ItemGPGKey,
		ItemInstances,
	}
}

// Key names an item of an agent.
type Key struct {
	Kind      ItemKind `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
}

// String returns kind/namespace/name.
func (k Key) String() string { return string(k.Kind) + "/" + k.Namespace + "/" + k.Name }

// Item is one thing that the server keeps a copy of, as it is now. The copy holds no secret: Secret data is masked, user
// information is stripped from URLs, manifests of operations and the annotation last-applied-configuration are left out.
type Item struct {
	Key
	// Hash is that of Body as the agent counts it (Hash is one way); the server compares it and nothing more. It is empty
	// where Deleted is set. At most 64 characters of hexadecimal.
	Hash string `json:"hash,omitempty"`
	// Deleted says that it is gone from the cluster. Only this deletes a copy immediately.
	Deleted bool `json:"deleted,omitempty"`
	// Truncated says that the body was too large and is not all of it.
	Truncated bool `json:"truncated,omitempty"`
	// Body is the resource itself for application, applicationset and argoproject (apiVersion, kind, metadata, spec, status),
	// Instances for instances, and a Setting for the others.
	Body json.RawMessage `json:"body,omitempty"`
	// Traceparent is the trace that it was changed in (W3C Trace Context); empty where there is none.
	Traceparent string `json:"traceparent,omitempty"`
}

// Setting is the Body of an Item of the kinds repository, repocreds, cluster, certificate and gpgkey: what may be known of
// it outside of its cluster.
type Setting struct {
	// Fields are the public ones, named as in Argo CD's Secrets: url, type, project, name, server, namespaces …; of a
	// certificate serverName, certType (https or ssh), certSubType, fingerprint; of a key keyID, owner, fingerprint, trust.
	Fields map[string]string `json:"fields"`
	// Secrets are the names of fields that have a value, which is not reported.
	Secrets []string          `json:"secrets,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	// Connection is what the agent last found when it used it.
	Connection *Connection `json:"connection,omitempty"`
	// Cluster is what the agent knows of a cluster; nil from an agent that does not report it, and for other settings.
	Cluster *ClusterState `json:"cluster,omitempty"`
	// Version is the resourceVersion that a change may be checked against.
	Version string `json:"version,omitempty"`
}

// Connection is what an agent found when it used a repository or a cluster.
type Connection struct {
	// Status is Successful, Failed or Unknown.
	Status  string    `json:"status"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// ClusterState is what an agent knows of a cluster that it deploys to, as of the time of its connection. What it does not know is
// missing.
type ClusterState struct {
	// Kubernetes is the version of the API server.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Latency is the median of the time that the last answers took, in milliseconds.
	Latency float64 `json:"latency,omitempty"`
	// Kinds is the number of kinds that the API server has.
	Kinds int `json:"kinds,omitempty"`
	// Applications is the number of Applications that deploy there, and Objects that of their objects.
	Applications int `json:"applications"`
	Objects      int `json:"objects,omitempty"`
	// Implied says that no Secret describes it: it is the agent's own.
	Implied bool `json:"implied,omitempty"`
	// Off says that it is switched off as a destination.
	Off bool `json:"off,omitempty"`
}

// Hash returns a hash for Item.Hash: 16 hexadecimal digits.
func Hash(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%016x", binary.BigEndian.Uint64(sum[:]))
}

// Digest is a number for a set of items with their hashes: the exclusive or of one number for each, so that it changes with
// one item without a look at the others. It is 0 for none. In JSON it is a text of 16 hexadecimal digits.
type Digest uint64

// Toggle returns the digest with an item and its hash put in, or taken out if it is in.
func (d Digest) Toggle(key Key, hash string) Digest {
	h := sha256.New()
	for _, part := range []string{string(key.Kind), key.Namespace, key.Name, hash} {
		_, _ = h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return d ^ Digest(binary.BigEndian.Uint64(h.Sum(nil)))
}

// String returns 16 hexadecimal digits.
func (d Digest) String() string { return fmt.Sprintf("%016x", uint64(d)) }

// MarshalText writes 16 hexadecimal digits.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads hexadecimal digits.
func (d *Digest) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("read digest %.20q: want 16 hexadecimal digits", text)
	}
	*d = Digest(n)
	return nil
}

// Batch is what changed since the last batch that was acknowledged: of each item its newest state only. An agent has one
// batch in flight at a time, and sends the same one again until it is answered.
type Batch struct {
	Epoch int64 `json:"epoch"`
	// Seq counts the batches of an epoch from 1. The one that was acknowledged last is acknowledged again; an earlier one is
	// refused with CodeStale.
	Seq   int64  `json:"seq"`
	Items []Item `json:"items,omitempty"`
	// Inventory is one part of an inventory. Items of the same batch are applied before it.
	Inventory *Inventory `json:"inventory,omitempty"`
	Events    []Event    `json:"events,omitempty"`
}

// Inventory is a part of the list of all that an agent has. Its parts are in batches that follow each other, with nothing
// taken from the list in between; the server acts on the last one. Entries that it has and the list has not are removed
// where that is plausible, and otherwise kept and marked: an object that an agent cannot see may still exist.
type Inventory struct {
	// Part counts from 0. Part 0 starts over.
	Part int `json:"part"`
	// Last says that there are no more parts.
	Last    bool    `json:"last"`
	Entries []Entry `json:"entries"`
}

// Entry is an item without its body.
type Entry struct {
	Key
	Hash string `json:"hash"`
}

// Ack is the answer to a Batch, given when all of it is stored.
type Ack struct {
	Error *Error `json:"error,omitempty"`
	Seq   int64  `json:"seq,omitempty"`
	// Missing are items of an inventory that the server does not have, or has with another hash. The agent sends them. Where
	// there are more than fit, the next digest says so.
	Missing []Key `json:"missing,omitempty"`
	// Stale is how many items the server keeps although the inventory has them no more.
	Stale int `json:"stale,omitempty"`
	// Rejected are items of the batch that the server cannot keep, with the reason. The agent does not send them again
	// before they change.
	Rejected []Rejected `json:"rejected,omitempty"`
	// RejectedEvents are events of the batch that the server cannot keep, with the reason. The agent does not send them again.
	// An older server says none: it refuses the batch.
	RejectedEvents []RejectedEvent `json:"rejectedEvents,omitempty"`
}

// Rejected is an item that cannot be kept.
type Rejected struct {
	Key
	Message string `json:"message"`
}

// RejectedEvent is an event, by its id, that cannot be kept.
type RejectedEvent struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

// Event is something that happened in a cluster and belongs in the audit log, regardless of its author.
type Event struct {
	// ID is made by the agent and stays the same however often the event is sent: the server keeps each once.
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Type is what happened; see EventType.
	Type   EventType `json:"type"`
	Target Key       `json:"target"`
	// Project is the Argo project of the target.
	Project string `json:"project,omitempty"`
	// User is the author of the request; empty without a request.
	User string `json:"user,omitempty"`
	// Automatic says that the agent began it without a request.
	Automatic bool `json:"automatic,omitempty"`
	// Command is the id of the command that it comes from.
	Command string `json:"command,omitempty"`
	// Revision is what was, or is to be, deployed.
	Revision string `json:"revision,omitempty"`
	// Before is the revision that was deployed before.
	Before string `json:"before,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Outcome is Succeeded, Failed, Refused, or empty for what only begins.
	Outcome string `json:"outcome,omitempty"`
	Message string `json:"message,omitempty"`
}

// EventType is what happened.
type EventType string

// The types of events.
const (
	EventSyncStarted  EventType = "sync.started"
	EventSyncFinished EventType = "sync.finished"
	// EventDrift names objects that were changed in the cluster since they were deployed.
	EventDrift EventType = "drift.found"
	// EventDriftReverted reports that the objects match the deployed state again: a sync restored them, or a person did.
	EventDriftReverted EventType = "drift.reverted"
	// EventHeld says that a sync or a deletion waits for a person, a window or a date.
	EventHeld EventType = "sync.held"
	// EventHealth says that an Application became Healthy, Degraded, Missing or Suspended. A health in transition to one of
	// these, or unknown, is not reported.
	EventHealth EventType = "health.changed"
	// EventDeleted says that an Application is gone, and the author of the request, if known.
	EventDeleted EventType = "deleted"
	// EventLost says in its message how many events were dropped before it, because the server was away for too long.
	EventLost EventType = "events.lost"
)
