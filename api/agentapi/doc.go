// Package agentapi is what an agent and a server say to each other: subjects, messages, codes and the signatures between
// them. It is a contract with promises: a field that is there keeps its name and its meaning, new ones may appear and are
// ignored by peers that do not know them. Other changes need a new Protocol.
//
// # The life of a link
//
// An agent registers once, over HTTPS (PathRegister): it shows a one-time token, its public key and the key that secrets
// are sealed to, and gets its uid and the server's public key, which it pins. Both sides of a signature are in sign.go.
//
// From then on it connects over WebSocket to PathLink with the NATS protocol and proves its key by signing the nonce. It
// may publish on UpAll(uid) and subscribe to DownAll(uid), nothing else; its inbox has the prefix InboxPrefix(uid).
//
//  1. It subscribes to DownCommand and DownStreams, so that nothing is lost later.
//  2. It sends Hello and gets Welcome with an epoch. Everything it sends carries that epoch; everything that comes down
//     with another one is dropped.
//  3. It sends a Heartbeat immediately, and then every Welcome.Heartbeat. After the first one the server sends the commands
//     that wait.
//  4. It sends what changed since the server last acknowledged something, in Batches, one at a time; and an Inventory
//     where Welcome or HeartbeatAck asks for one, because the digests differ.
//
// Requests are answered on the inbox. An answer with an Error says in its Code what to do; see there. A request without
// an answer within RequestTimeout is sent again as it is: the server takes each of them twice without harm.
package agentapi

import "time"

// Protocol is the version of this contract. A server refuses a Hello with another one (CodeProtocol).
const Protocol = 1

// Limits of the link. Both sides hold them: what is larger is refused, and never truncated in silence.
const (
	// MaxBatch is the largest Batch as JSON, in bytes.
	MaxBatch = 512 << 10
	// MaxItem is the largest Body of an Item, in bytes. An agent sends an item that is larger with Truncated set and a
	// body that is reduced to what fits.
	MaxItem = 384 << 10
	// MaxMessage is the largest message of any kind, in bytes.
	MaxMessage = 1 << 20
	// MaxCommand is the largest Body of a Command, in bytes.
	MaxCommand = 512 << 10
	// MaxResult is the largest Body of the Result of a command that is kept (Kind.Changes), in bytes.
	MaxResult = 256 << 10
	// MaxReply is the largest Result of a command that only reads, in bytes of JSON before Split.
	MaxReply = 16 << 20
	// MaxChunk is the most Data of a Chunk, in bytes.
	MaxChunk = 32 << 10
	// MaxWindow is the most credit of one direction of a stream, in bytes.
	MaxWindow = 1 << 20
	// MaxInventory is the most entries of an inventory, all its parts together.
	MaxInventory = 200_000
	// MaxInventoryPart is the most entries of one Inventory.
	MaxInventoryPart = 2_000
	// MaxEvents is the most Events of one Batch.
	MaxEvents = 500
	// MaxText is the longest text of a field that is not a body: a name, a reason, a message, in bytes.
	MaxText = 4 << 10
	// MaxRegistration is the largest Registration as JSON, in bytes.
	MaxRegistration = 16 << 10
)

// Times of the link. Where Welcome says another value, that one counts.
const (
	// HeartbeatInterval is the time between two heartbeats.
	HeartbeatInterval = 10 * time.Second
	// DisconnectedAfter is the time without a heartbeat after which an agent counts as Disconnected: two heartbeats are missing
	// then, and the second one is 5 s late.
	DisconnectedAfter = 25 * time.Second
	// HolderAlive is the time since the last heartbeat for which the holder of an identity keeps it against an agent of
	// another cluster.
	HolderAlive = 45 * time.Second
	// TwinRetry is the shortest time after which an agent that was refused as a twin may try again.
	TwinRetry = 60 * time.Second
	// DegradedLag is the age of the oldest unacknowledged change from which an agent counts as Degraded.
	DegradedLag = 30 * time.Second
	// RequestTimeout is how long an agent waits for the answer to a request.
	RequestTimeout = 10 * time.Second
)
