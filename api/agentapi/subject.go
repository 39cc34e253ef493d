package agentapi

import "strings"

// Paths of the server's HTTPS port.
const (
	// PathLink is where the link is: GET with an upgrade to WebSocket.
	PathLink = "/link"
	// PathRegister takes a Registration by POST.
	PathRegister = "/link/register"
)

// MaxStreamID is the longest id of a command or a stream, which is a token of a subject.
const MaxStreamID = 64

const root = "slipway."

// UIDLength is the length of an agent's uid: 26 letters and digits of base32 in lower case.
const UIDLength = 26

// ValidUID reports whether a text can be the uid of an agent, and so a token of a subject.
func ValidUID(uid string) bool {
	return len(uid) == UIDLength && strings.IndexFunc(uid, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '2' || r > '7')
	}) < 0
}

// ValidID reports whether a text can be the id of a command or a stream, and so a token of a subject: letters, digits,
// hyphens and underscores, at most MaxStreamID.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxStreamID && strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

// UpAll is what an agent may publish on.
func UpAll(uid string) string { return root + uid + ".up.>" }

// DownAll is what an agent may subscribe to.
func DownAll(uid string) string { return root + uid + ".down.>" }

// UpHello takes a Hello and answers with a Welcome.
func UpHello(uid string) string { return root + uid + ".up.hello" }

// UpState takes a Batch and answers with an Ack.
func UpState(uid string) string { return root + uid + ".up.state" }

// UpHeartbeat takes a Heartbeat and answers with a HeartbeatAck.
func UpHeartbeat(uid string) string { return root + uid + ".up.heartbeat" }

// UpResult takes a ResultReport, of a command that is kept, and answers with a ResultAck.
func UpResult(uid string) string { return root + uid + ".up.result" }

// UpRotate takes a Rotation and answers with a RotationAck.
func UpRotate(uid string) string { return root + uid + ".up.rotate" }

// UpReply takes the Parts of the Result of a command that only reads. Nothing answers.
func UpReply(uid, id string) string { return root + uid + ".up.reply." + id }

// UpStream takes the Chunks of a stream. Nothing answers.
func UpStream(uid, stream string) string { return root + uid + ".up.stream." + stream }

// DownCommand brings Commands, each in a Signed.
func DownCommand(uid string) string { return root + uid + ".down.command" }

// DownStreams brings the Chunks of all streams, each in a Signed.
func DownStreams(uid string) string { return root + uid + ".down.stream.*" }

// DownStream brings the Chunks of one stream, each in a Signed.
func DownStream(uid, stream string) string { return root + uid + ".down.stream." + stream }

// InboxPrefix is the prefix that an agent's client makes its inboxes of (nats.CustomInboxPrefix). A request that wants its
// answer elsewhere gets none.
func InboxPrefix(uid string) string { return root + uid + ".down.inbox" }
