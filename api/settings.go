package api

// Sealed is secret fields that only an agent can read: NaCl's anonymous box to the agent's sealKey, standard base64. Inside is
// a JSON document that is for one request (docs/guide/api.md).
type Sealed string

// SettingWrite is a repository, credential template, cluster, certificate, known host or GnuPG key to make or change.
type SettingWrite struct {
	Name string `json:"name,omitempty" maxLength:"253" doc:"Name in the agent's cluster; default: derived from the address" example:"shop"`
	// Fields that are no secrets.
	Fields map[string]string `json:"fields" doc:"Fields that are not secret, by their names in Argo CD's Secrets and ConfigMaps; an agent refuses a field that its engine does not use" example:"{\"url\":\"https://git.example.org/shop.git\"}"`
	// Sealed holds the fields that are.
	Sealed Sealed            `json:"sealed,omitempty" maxLength:"200000" doc:"Fields that are secrets (password, sshPrivateKey, config), sealed to the agent's sealKey by the client for this request: the server cannot read them"`
	Labels map[string]string `json:"labels,omitempty" doc:"Labels of the Secret"`
	// Version is that of the item's resource; "" for any.
	Version string `json:"version,omitempty" maxLength:"64" doc:"resource.version of the item that was read; the server refuses the request with 409 if it has changed"`
	// Test tries a connection first.
	Test bool `json:"test,omitempty" doc:"Test the connection first, and change nothing if that fails"`
	// Revision is what a test of a Git repository looks for.
	Revision string `json:"revision,omitempty" maxLength:"500" doc:"Branch, tag or commit that a test of a Git repository looks for; default: the default branch" example:"main"`
	Upsert   bool   `json:"upsert,omitempty" doc:"Update it if it exists"`
	Reason   string `json:"reason,omitempty" maxLength:"1000" doc:"Reason, for the audit log"`
}

// SettingTest is what came of a connection test.
type SettingTest struct {
	OK      bool   `json:"ok" doc:"The connection works"`
	Message string `json:"message,omitempty" doc:"Error, and the next step"`
	// Steps are the layers of a connection; none where the agent does not report them.
	Steps []SettingStep `json:"steps,omitempty" doc:"The layers of the connection to a Git repository in order, up to the first that fails"`
}

// States of a SettingStep.
const (
	StepOK      = "ok"
	StepFailed  = "failed"
	StepSkipped = "skipped"
)

// SettingStep is one layer of a connection test.
type SettingStep struct {
	Layer  string `json:"layer" enum:"name,connection,proxy,TLS,host key,authentication,repository,revision" doc:"Part of the connection that was tested"`
	Status string `json:"status" enum:"ok,failed,skipped" doc:"Result; skipped after a failure"`
	Detail string `json:"detail,omitempty" doc:"What was tested and found, or the error"`
	Next   string `json:"next,omitempty" doc:"Next step after a failure"`
	// Millis is how long it took; 0 where it came out of another step.
	Millis int64 `json:"millis,omitempty" doc:"Duration in milliseconds; none where it was tested with another layer"`
}

// Settings are those of the server.
type Settings struct {
	// AuditRetentionDays is how long entries are kept; 0 for ever.
	AuditRetentionDays int `json:"auditRetentionDays" minimum:"0" maximum:"36500" doc:"Retention of audit entries in days; 0 for no limit" example:"365"`
	// CommandRetentionDays is how long finished commands are kept.
	CommandRetentionDays int `json:"commandRetentionDays" minimum:"1" maximum:"3650" doc:"Retention of finished commands in days" example:"30"`
	// LedgerRetentionDays and LedgerRetentionGiB are how long, and how much, of the ledger is kept; 0 for all.
	LedgerRetentionDays int `json:"ledgerRetentionDays" required:"false" default:"400" minimum:"0" maximum:"36500" doc:"Retention of ledger entries in days, in addition to the newest deployment of each application; 0 for no limit" example:"400"`
	LedgerRetentionGiB  int `json:"ledgerRetentionGiB" required:"false" default:"10" minimum:"0" maximum:"100000" doc:"Maximum size of the ledger in GiB, above which the server deletes the oldest entries; 0 for no limit" example:"10"`
	// Banner is shown on every page; one without a text is none.
	Banner Banner `json:"banner,omitzero" required:"false" doc:"Notice at the top of every page; none without a text"`
	// Badges turns on the badges of applications, which need no session.
	Badges  bool  `json:"badges,omitempty" required:"false" doc:"Anyone who knows an application's name can get its health and sync status as a badge, without a session"`
	Version int64 `json:"version,omitempty" doc:"Version to change; the server refuses an update of an older version with 409"`
}

// Severities of a banner.
const (
	BannerInfo     = "info"
	BannerWarning  = "warning"
	BannerCritical = "critical"
)

// Banner is a notice of the operators to everyone who is signed in.
type Banner struct {
	Text string `json:"text,omitempty" maxLength:"500" doc:"What it says, as plain text" example:"Maintenance on Saturday from 20:00 UTC"`
	// URL is an address with more details; "" for none.
	URL string `json:"url,omitempty" maxLength:"2000" doc:"Where to read more: an address that begins with https://, http:// or mailto:" example:"https://status.example.org"`
	// Severity is how it looks; "" is BannerInfo.
	Severity string `json:"severity,omitempty" enum:"info,warning,critical" doc:"How it looks; info where it is left out"`
	// Permanent banners cannot be dismissed.
	Permanent bool `json:"permanent,omitempty" doc:"Readers cannot dismiss it"`
}
