package api

import "time"

// States of an upgrade of agents.
const (
	// UpgradeRunning: it goes on, at whichever server.
	UpgradeRunning = "running"
	// UpgradeDone: all agents run the new version, but those that were left out.
	UpgradeDone = "done"
	// UpgradeStopped: a user has stopped it; what had begun was waited for.
	UpgradeStopped = "stopped"
	// UpgradeFailed: an agent was in trouble, and nothing more was begun.
	UpgradeFailed = "failed"
	// UpgradeReturned: a user has taken it back.
	UpgradeReturned = "rolled-back"
)

// States of an agent in an upgrade.
const (
	UpgradeTargetWaiting = "waiting"
	// UpgradeTargetUpgrading: the agent was asked, and does not run the new image yet.
	UpgradeTargetUpgrading = "upgrading"
	// UpgradeTargetChecking: it runs the new image, and has to stay healthy for a while.
	UpgradeTargetChecking = "checking"
	UpgradeTargetDone     = "done"
	// UpgradeTargetReturning: it goes back to the image that it ran before.
	UpgradeTargetReturning = "rolling-back"
	// UpgradeTargetReturned: it runs the image before again.
	UpgradeTargetReturned = "rolled-back"
	// UpgradeTargetFailed: it neither runs the new image nor came back.
	UpgradeTargetFailed = "failed"
	// UpgradeTargetRefused: the agent, or the rights of the user, do not allow it; nothing was changed.
	UpgradeTargetRefused = "refused"
	// UpgradeTargetSkipped: it cannot be upgraded by a command, or runs the version already.
	UpgradeTargetSkipped = "skipped"
)

// UpgradeChange is what a person wants of an upgrade.
type UpgradeChange string

// What people want of upgrades.
const (
	UpgradeStop   UpgradeChange = "stop"
	UpgradeResume UpgradeChange = "resume"
	UpgradeBack   UpgradeChange = "rollback"
)

// Bounds and defaults of upgrades.
const (
	MaxUpgradeTargets = 2000
	MaxUpgradeSteps   = 20
	// DefaultUpgradeUnavailable is how many agents are upgraded at a time by default.
	DefaultUpgradeUnavailable = 3
	// DefaultUpgradeHold is how many seconds an upgraded agent has to stay healthy by default.
	DefaultUpgradeHold = 120
	// DefaultUpgradeTimeout is how many seconds an agent has until it runs the new version and is healthy.
	DefaultUpgradeTimeout = 600
)

// AgentRelease is a version of the agent that a signed statement names.
type AgentRelease struct {
	Version string `json:"version" doc:"Version" example:"1.4.0"`
	Digest  string `json:"digest" doc:"Digest of the image" example:"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Minimum string `json:"minimum,omitempty" doc:"Oldest version that an agent of this release accepts without an explicit downgrade"`
	// Statement is as it was signed: agents verify it by their own keys.
	Statement []byte    `json:"statement,omitempty" doc:"Signed statement of releases that names it (a DSSE envelope), base64"`
	AddedAt   time.Time `json:"addedAt,omitzero" doc:"Time at which it was added"`
	AddedBy   Principal `json:"addedBy,omitzero" doc:"User who added it"`
}

// AgentStatement is a signed statement of releases.
type AgentStatement struct {
	Statement []byte `json:"statement" minLength:"1" maxLength:"180000" doc:"Statement (a DSSE envelope in JSON), base64"`
}

// AgentVersions say which version agents should run. The first rule that an agent matches counts.
type AgentVersions struct {
	Rules   []AgentVersionRule `json:"rules" maxItems:"100" doc:"Rules; the first one that an agent matches counts"`
	Version int64              `json:"version,omitempty" doc:"Version to change"`
}

// AgentVersionRule says which version some agents should run.
type AgentVersionRule struct {
	Scope    Scope             `json:"scope,omitempty" maxLength:"140" doc:"Agents in this scope or below it; default: all" example:"org.acme"`
	Selector map[string]string `json:"selector,omitempty" doc:"Agents with all of these labels; an empty value stands for any; default: all"`
	Release  string            `json:"release" maxLength:"64" doc:"Version of a release that was added" example:"1.4.0"`
}

// Matches reports whether a rule is about an agent.
func (r *AgentVersionRule) Matches(a *Agent) bool {
	return (r.Scope == "" || r.Scope.Contains(a.Scope)) && HasLabels(a.Labels, r.Selector)
}

// Wanted is the version that an agent should run; "" where no rule says.
func (v *AgentVersions) Wanted(a *Agent) string {
	for i := range v.Rules {
		if v.Rules[i].Matches(a) {
			return v.Rules[i].Release
		}
	}
	return ""
}

// HasLabels reports whether labels are what a selector asks for; an empty value stands for any.
func HasLabels(labels, selector map[string]string) bool {
	for key, want := range selector {
		have, ok := labels[key]
		if !ok || want != "" && have != want {
			return false
		}
	}
	return true
}

// UpgradeRequest asks for an upgrade of agents, some after the others.
type UpgradeRequest struct {
	// Release is the version; that which AgentVersions says for each agent where it is empty.
	Release  string            `json:"release,omitempty" maxLength:"64" doc:"Version of a release that was added; default: the version wanted for each agent" example:"1.4.0"`
	Scope    Scope             `json:"scope,omitempty" maxLength:"140" doc:"Agents in this scope or below it; default: account" example:"org.acme"`
	Selector map[string]string `json:"selector,omitempty" doc:"Agents with all of these labels; an empty value stands for any"`
	Agents   []string          `json:"agents,omitempty" maxItems:"2000" doc:"Only these agents, by id"`
	// Canary and CanarySelector say which agents come first.
	Canary         int               `json:"canary,omitempty" minimum:"0" maximum:"2000" doc:"Number of agents that are upgraded first; default: 1"`
	CanarySelector map[string]string `json:"canarySelector,omitempty" doc:"Agents that are upgraded first, by labels, instead of a number"`
	// Steps are percentages of the agents after the canaries.
	Steps          []int  `json:"steps,omitempty" maxItems:"20" doc:"Percentages of the remaining agents after which to check all upgraded ones; the last is 100; default: [25,50,100]" example:"[25,50,100]"`
	MaxUnavailable int    `json:"maxUnavailable,omitempty" minimum:"0" maximum:"500" doc:"Number of agents that may be under way at a time; default: 3" example:"3"`
	Hold           int    `json:"holdSeconds,omitempty" minimum:"0" maximum:"86400" doc:"Seconds for which an upgraded agent has to stay healthy; default: 120" example:"120"`
	Timeout        int    `json:"timeoutSeconds,omitempty" minimum:"0" maximum:"7200" doc:"Seconds that an agent has until it runs the new version and is healthy; default: 600" example:"600"`
	AllowDowngrade bool   `json:"allowDowngrade,omitempty" doc:"Let agents run a version that is older than theirs, if its statement was signed after that of theirs"`
	Reason         string `json:"reason,omitempty" maxLength:"1000" doc:"Reason, for the audit log"`
}

// Upgrade is an upgrade of agents, and its progress.
type Upgrade struct {
	ID         string         `json:"id,omitempty" doc:"Identifier" example:"b7k2m4x6q3w5"`
	By         Principal      `json:"by" doc:"User who started it; agents are upgraded with this user's current permissions"`
	Request    UpgradeRequest `json:"request" doc:"Request"`
	State      string         `json:"state" enum:"running,done,stopped,failed,rolled-back" doc:"running, done, stopped (by a user), failed (an agent was in trouble), rolled-back (by a user)"`
	Message    string         `json:"message,omitempty" doc:"Reason, if it is not running and not done"`
	StoppedBy  string         `json:"stoppedBy,omitempty" doc:"User who stopped it, or took it back"`
	Back       bool           `json:"back,omitempty" doc:"It is being taken back"`
	Step       int            `json:"step" doc:"Current step; 0: the canaries"`
	Steps      int            `json:"steps" doc:"Number of the last step"`
	Counts     UpgradeCounts  `json:"counts" doc:"Number of agents by state"`
	CreatedAt  time.Time      `json:"createdAt,omitzero" doc:"Time of the request"`
	ResumedAt  time.Time      `json:"resumedAt,omitzero" doc:"Time at which a user resumed it last"`
	FinishedAt time.Time      `json:"finishedAt,omitzero" doc:"Time at which it ended"`
}

// UpgradeCounts say how far an upgrade is.
type UpgradeCounts struct {
	Total    int `json:"total" doc:"All agents"`
	Waiting  int `json:"waiting" doc:"Not begun"`
	UnderWay int `json:"underWay" doc:"Upgrading, checking or rolling back"`
	Done     int `json:"done" doc:"Upgraded"`
	Returned int `json:"rolledBack" doc:"Back at the image before"`
	Failed   int `json:"failed" doc:"Failed or refused"`
	Skipped  int `json:"skipped" doc:"Left out"`
}

// Count counts agents by state.
func (c *UpgradeCounts) Count(state string) {
	c.Total++
	switch state {
	case UpgradeTargetWaiting:
		c.Waiting++
	case UpgradeTargetDone:
		c.Done++
	case UpgradeTargetReturned:
		c.Returned++
	case UpgradeTargetFailed, UpgradeTargetRefused:
		c.Failed++
	case UpgradeTargetSkipped:
		c.Skipped++
	default:
		c.UnderWay++
	}
}

// UpgradeTarget is an agent of an upgrade.
type UpgradeTarget struct {
	Place int    `json:"place" doc:"Number in the upgrade, from 1"`
	Agent string `json:"agent" doc:"Id of the agent" example:"account.prod"`
	Step  int    `json:"step" doc:"Step that it belongs to; 0: the canaries"`
	State string `json:"state" enum:"waiting,upgrading,checking,done,rolling-back,rolled-back,failed,refused,skipped" doc:"Progress"`
	// Version and Digest are what it is to run, From what it ran.
	Version     string `json:"version,omitempty" doc:"New version"`
	Digest      string `json:"digest,omitempty" doc:"Digest of the new image"`
	From        string `json:"from,omitempty" doc:"Image before"`
	FromVersion string `json:"fromVersion,omitempty" doc:"Version before"`
	Message     string `json:"message,omitempty" doc:"Reason"`
	// FailedBefore is how many of its applications needed attention when it was begun.
	FailedBefore int       `json:"failedBefore" doc:"Number of failed applications before the upgrade"`
	FailedNow    int       `json:"failedNow" doc:"Number of failed applications now"`
	Command      string    `json:"command,omitempty" doc:"Id of the command"`
	Answered     bool      `json:"answered,omitempty" doc:"The agent has answered the command"`
	StartedAt    time.Time `json:"startedAt,omitzero" doc:"Time at which it began"`
	HealthyAt    time.Time `json:"healthyAt,omitzero" doc:"Time since which it runs the new version and is healthy"`
	FinishedAt   time.Time `json:"finishedAt,omitzero" doc:"Time at which it ended"`
}

// UpgradePlan is an upgrade with its agents, in their order.
type UpgradePlan struct {
	Upgrade Upgrade         `json:"upgrade" doc:"The upgrade"`
	Targets []UpgradeTarget `json:"targets" doc:"Agents, in the order in which they are upgraded"`
}
