package agentapi

import "time"

// Limits of records.
const (
	// MaxRecords is the most Records of one message.
	MaxRecords = 64
	// MaxRecord is the largest Body of a Record, in bytes as it is sent; MaxRecordJSON unpacked.
	MaxRecord     = 600 << 10
	MaxRecordJSON = 16 << 20
	// MaxContents is the most Contents of one message, MaxContent the largest of them unpacked.
	MaxContents = 512
	MaxContent  = 2 << 20
	// MaxKnown is the most Known of one message.
	MaxKnown = 2_000
)

// Records is what operations of an agent were, for the ledger. An agent sends it only where Welcome.Ledger is set, one
// message at a time, and the same one again until it is answered: each id is kept once.
type Records struct {
	Epoch   int64    `json:"epoch"`
	Records []Record `json:"records,omitempty"`
	// Contents are manifests that the server reported as missing.
	Contents []Content `json:"contents,omitempty"`
	// Healthy are records whose applications became healthy after them.
	Healthy []Healthy `json:"healthy,omitempty"`
	// Known are ids of operations that the agent has found in the status of applications: the answer says which of them the
	// server has not.
	Known []string `json:"known,omitempty"`
}

// Record is one operation.
type Record struct {
	// ID is made by the agent of the application's uid and the operation, and is the same however often it is sent. At most 64
	// characters of hexadecimal.
	ID string `json:"id"`
	// Body is an api.LedgerDetail as JSON, compressed by zstd. Fields that the server knows better are ignored: id, agent, scope,
	// service and environment.
	Body []byte `json:"body"`
	// Lost is how many of its manifests the agent had to drop while the server was away, Before how many records before it.
	Lost   int `json:"lost,omitempty"`
	Before int `json:"before,omitempty"`
}

// Content is a manifest.
type Content struct {
	// Hash is the SHA-256 of the manifest, in hexadecimal.
	Hash string `json:"hash"`
	// Body is the manifest as canonical JSON without a secret, compressed by zstd.
	Body []byte `json:"body"`
}

// Healthy says when an application was healthy first after an operation.
type Healthy struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// RecordAck is the answer to Records, given when all of it is stored.
type RecordAck struct {
	Error *Error `json:"error,omitempty"`
	// Lacks are hashes that the records name and whose content the server does not have.
	Lacks []string `json:"lacks,omitempty"`
	// Unknown are ids of Known and Healthy that the server does not have.
	Unknown []string `json:"unknown,omitempty"`
	// Rejected are records and contents that cannot be kept, with the reason. The agent does not send them again.
	Rejected []RejectedRecord `json:"rejected,omitempty"`
}

// RejectedRecord is a record, by its id, or a content, by its hash, that cannot be kept.
type RejectedRecord struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

// UpRecord takes Records and answers with a RecordAck.
func UpRecord(uid string) string { return root + uid + ".up.record" }
