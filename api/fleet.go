package api

import (
	"strconv"
	"strings"
	"time"
)

// FleetFilter says which applications of all agents are wanted. Omitted fields are ignored; ages are relative, so
// that a filter that is saved means the same tomorrow.
type FleetFilter struct {
	Search      string            `json:"search,omitempty" maxLength:"200" doc:"Words, in any order: each is in the name, namespace, repository, cluster or name of the agent"`
	Scope       Scope             `json:"scope,omitempty" maxLength:"140" doc:"Only applications in this scope or below it" example:"org.acme"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Only those with all of these labels; an empty value stands for any"`
	Agent       string            `json:"agent,omitempty" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	ArgoProject string            `json:"argoProject,omitempty" maxLength:"253" doc:"Only those of this Argo project" example:"default"`
	Namespace   string            `json:"namespace,omitempty" maxLength:"63" doc:"Only those in this namespace" example:"argocd"`
	Sync        []string          `json:"sync,omitempty" maxItems:"5" enum:"Synced,OutOfSync,Unknown" doc:"Only those with one of these sync statuses"`
	Health      []string          `json:"health,omitempty" maxItems:"8" enum:"Healthy,Progressing,Degraded,Suspended,Missing,Unknown" doc:"Only those with one of these health statuses"`
	Phase       []string          `json:"phase,omitempty" maxItems:"8" enum:"Running,Terminating,Succeeded,Failed,Error" doc:"Only those whose last operation is in one of these phases"`
	RepoURL     string            `json:"repoURL,omitempty" maxLength:"2000" doc:"Only those with a source in this repository"`
	Cluster     string            `json:"cluster,omitempty" maxLength:"500" doc:"Only those that deploy to this cluster, by name or address"`
	Service     string            `json:"service,omitempty" maxLength:"210" doc:"Only those that run this service" example:"org.acme.checkout"`
	Environment string            `json:"environment,omitempty" maxLength:"210" doc:"Only those of this environment" example:"org.acme.production"`
	Region      string            `json:"region,omitempty" maxLength:"63" doc:"Only those of environments of this region"`
	Type        string            `json:"type,omitempty" enum:"Production,PreProduction" doc:"Only those of environments of this type"`
	Version     string            `json:"version,omitempty" maxLength:"1000" doc:"Only those that run this version" example:"1.4.2"`
	Held        bool              `json:"held,omitempty" doc:"Only those whose sync is held"`
	Stale       bool              `json:"stale,omitempty" doc:"Only those whose state may be out of date: the agent is away, or no longer reports them"`
	Attention   []string          `json:"attention,omitempty" maxItems:"6" enum:"SourceError,Degraded,SyncFailed,Held,OutOfSync,NeverDeployed" doc:"Only those that need attention for one of these reasons"`
	// DriftOlder and Since are durations such as "90m", "36h" or "7d".
	DriftOlder string `json:"driftOlder,omitempty" maxLength:"20" doc:"Only those that are out of sync for longer than this" example:"2h"`
	Since      string `json:"since,omitempty" maxLength:"20" doc:"Only those whose last operation ended within this time before now" example:"7d"`
}

// Over is the filter with what it does not say taken from another one: a saved filter that the rest overrides.
func (f FleetFilter) Over(below FleetFilter) FleetFilter {
	out := below
	for _, text := range []struct {
		into *string
		from string
	}{
		{&out.Search, f.Search},
		{(*string)(&out.Scope), string(f.Scope)},
		{&out.Agent, f.Agent},
		{&out.ArgoProject, f.ArgoProject},
		{&out.Namespace, f.Namespace},
		{&out.RepoURL, f.RepoURL},
		{&out.Cluster, f.Cluster},
		{&out.Service, f.Service},
		{&out.Environment, f.Environment},
		{&out.Region, f.Region},
		{&out.Type, f.Type},
		{&out.Version, f.Version},
		{&out.DriftOlder, f.DriftOlder},
		{&out.Since, f.Since},
	} {
		if text.from != "" {
			*text.into = text.from
		}
	}
	for _, texts := range []struct {
		into *[]string
		from []string
	}{{&out.Sync, f.Sync}, {&out.Health, f.Health}, {&out.Phase, f.Phase}, {&out.Attention, f.Attention}} {
		if len(texts.from) > 0 {
			*texts.into = texts.from
		}
	}
	if f.Labels != nil {
		out.Labels = f.Labels
	}
	out.Held, out.Stale = out.Held || f.Held, out.Stale || f.Stale
	return out
}

// Bounds of the ages of a filter.
const longestAge = 100 * 365 * 24 * time.Hour

// ParseAge reads a duration as Go writes it, or days: "36h", "7d". It is positive and at most 100 years.
func ParseAge(text string) (time.Duration, error) {
	age, err := time.ParseDuration(text)
	if days, found := strings.CutSuffix(text, "d"); found {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		age = time.Duration(min(max(n, 0), longestAge.Hours()) * 24 * float64(time.Hour))
		if n > longestAge.Hours()/24 {
			age = 0
		}
	}
	if err != nil || age <= 0 || age > longestAge {
		return 0, Errorf(CodeInvalid, "%.40q is no age: write a time such as 90m, 36h or 7d", text)
	}
	return age, nil
}

// Times turns the ages of the filter into times before now: DriftBefore is the latest time since which an application may
// be out of sync, EndedAfter the earliest at which its last operation may have ended. Zero where there is no such bound.
func (f *FleetFilter) Times(now time.Time) (driftBefore, endedAfter time.Time, err error) {
	if f.DriftOlder != "" {
		age, err := ParseAge(f.DriftOlder)
		if err != nil {
			return driftBefore, endedAfter, err
		}
		driftBefore = now.Add(-age)
	}
	if f.Since != "" {
		age, err := ParseAge(f.Since)
		if err != nil {
			return driftBefore, endedAfter, err
		}
		endedAfter = now.Add(-age)
	}
	return driftBefore, endedAfter, nil
}

// MaxFleetValues is how many values of one kind a summary names.
const MaxFleetValues = 100

// FleetCount is how many applications have a value.
type FleetCount struct {
	Value string `json:"value" doc:"The value; empty for those that have none" example:"Healthy"`
	Count int64  `json:"count" doc:"Number of applications with this value"`
}

// FleetCounts are how many applications have which value, the most frequent first. There are at most MaxFleetValues.
type FleetCounts struct {
	Values []FleetCount `json:"values" doc:"The most frequent first, at most 100"`
	// Distinct is how many values there are, Others how many applications have one that is not listed.
	Distinct int   `json:"distinct" doc:"Number of distinct values"`
	Others   int64 `json:"others,omitempty" doc:"Number of applications with values that are not listed"`
}

// How long an application is out of sync, in FleetSummary.DriftAge.
const (
	DriftHour = "<1h"
	DriftDay  = "<1d"
	DriftWeek = "<7d"
	DriftOld  = ">=7d"
)

// FleetSummary counts the applications that a filter leaves.
type FleetSummary struct {
	Total int64 `json:"total" doc:"Number of applications"`
	Held  int64 `json:"held" doc:"Number of applications with a held sync"`
	Stale int64 `json:"stale" doc:"Number of applications that may be out of date: their agent is away, or no longer reports them"`

	Attention   FleetCounts `json:"attention" doc:"Those that need attention, by the worst reason"`
	Sync        FleetCounts `json:"sync" doc:"By sync status"`
	Health      FleetCounts `json:"health" doc:"By health"`
	Phase       FleetCounts `json:"phase" doc:"By phase of the last operation"`
	DriftAge    FleetCounts `json:"driftAge" doc:"Applications out of sync, by duration: <1h, <1d, <7d, >=7d"`
	Version     FleetCounts `json:"version" doc:"By running version"`
	Agent       FleetCounts `json:"agent" doc:"By agent"`
	Cluster     FleetCounts `json:"cluster" doc:"By destination cluster"`
	Environment FleetCounts `json:"environment" doc:"By environment"`
	Region      FleetCounts `json:"region" doc:"By region of their environment"`
	Service     FleetCounts `json:"service" doc:"By service"`
	ArgoProject FleetCounts `json:"argoProject" doc:"By Argo project"`
	Scope       FleetCounts `json:"scope" doc:"By scope"`
	Label       FleetCounts `json:"label" doc:"By label, as key=value; an application with several labels is counted for each"`
}

// FleetTally is how the applications are that have one value, such as those of one agent.
type FleetTally struct {
	Value string `json:"value" doc:"The value; empty for those that have none" example:"account.prod"`
	Total int64  `json:"total" doc:"Number of applications with this value"`
	Held  int64  `json:"held" doc:"Number of them with a held sync"`
	Stale int64  `json:"stale" doc:"Number of them that may be out of date: their agent is away, or no longer reports them"`
	// Sync and Health leave out what is 0. What is none of the known statuses is Unknown.
	Sync   map[string]int64 `json:"sync" doc:"Numbers by sync status"`
	Health map[string]int64 `json:"health" doc:"Numbers by health"`
}

// FleetMatrix says how the applications that a filter leaves are, for each value of one kind.
type FleetMatrix struct {
	Rows []FleetTally `json:"rows" doc:"Those with the most applications that are not healthy or out of sync first, at most 100"`
	// Distinct is how many values there are, Others how many applications have one that is not listed.
	Distinct int   `json:"distinct" doc:"Number of distinct values"`
	Others   int64 `json:"others,omitempty" doc:"Number of applications with values that are not listed"`
}

// What deliveries are put together by, in DORAFilter.Group.
const (
	GroupApplication = "application"
	GroupService     = "service"
	GroupEnvironment = "environment"
	GroupArgoProject = "project"
	GroupScope       = "scope"
)

// DORAFilter says which deliveries are measured.
type DORAFilter struct {
	LedgerFilter
	// Group is one of the Group constants; "" for all together.
	Group string
	// Week has weeks in place of days, which begin on Monday, in UTC.
	Week bool
}

// Quantiles are those of durations, in seconds. Of none they are missing.
type Quantiles struct {
	Count int64    `json:"count" doc:"Number of durations"`
	P50   *float64 `json:"p50,omitempty" doc:"Median, in seconds"`
	P90   *float64 `json:"p90,omitempty" doc:"90th percentile, in seconds"`
	P99   *float64 `json:"p99,omitempty" doc:"99th percentile, in seconds"`
}

// DORA are the four figures of delivery for a time. What each means is in the guide, under "Deliveries".
type DORA struct {
	Deployments int64 `json:"deployments" doc:"Operations that succeeded and changed something"`
	Automatic   int64 `json:"automatic" doc:"Number of automatic ones"`
	// PerDay are deployments for each day, those without any included.
	PerDay   float64   `json:"perDay" doc:"Deployments per day"`
	LeadTime Quantiles `json:"leadTime" doc:"From commit to healthy"`
	Changes  int64     `json:"changes" doc:"Operations that deployed a new revision"`
	Failures int64     `json:"failures" doc:"Number of them that failed, were not healthy in time, or were rolled back"`
	// FailureRate is from 0 to 1; missing without changes.
	FailureRate *float64  `json:"failureRate,omitempty" doc:"Failures among changes, from 0 to 1"`
	Restore     Quantiles `json:"restore" doc:"From the failure of a change until the application was healthy again"`
	Unrestored  int64     `json:"unrestored" doc:"Failures after which the application was not healthy yet"`
}

// DORAPoint is a day or a week.
type DORAPoint struct {
	From time.Time `json:"from" doc:"Start of the period, in UTC"`
	DORA
}

// DORARow is what is known of one group.
type DORARow struct {
	// Name is that of the group; "" for what belongs to none, and without groups.
	Name string `json:"name" doc:"The application, service, environment or project; empty for applications without one" example:"org.acme.checkout"`
	DORA
	Series []DORAPoint `json:"series" doc:"By day or week, the oldest first"`
}

// DORAReport are the figures of delivery.
type DORAReport struct {
	From time.Time `json:"from" doc:"Start of the period"`
	To   time.Time `json:"to" doc:"End of the period"`
	DORARow
	Groups []DORARow `json:"groups,omitempty" doc:"Groups as requested, those with the most deployments first, at most 100"`
	More   int       `json:"more,omitempty" doc:"Number of groups that are not listed"`
}

// ServiceLevel is how long deliveries take.
type ServiceLevel struct {
	// Application is an id; "" for all together.
	Application string    `json:"application" doc:"Id of the application; empty for all together" example:"account.prod/argocd/shop"`
	Deliveries  int64     `json:"deliveries" doc:"New revisions that were deployed"`
	Detected    Quantiles `json:"detected" doc:"From commit until the agent detected it"`
	Rendered    Quantiles `json:"rendered" doc:"From detection until its manifests were rendered"`
	Applied     Quantiles `json:"applied" doc:"From rendering until the last object was applied"`
	Healthy     Quantiles `json:"healthy" doc:"From the last apply until the application was healthy"`
	Whole       Quantiles `json:"whole" doc:"From commit to healthy"`
}

// ServiceLevels are how long deliveries take, for all and for each application.
type ServiceLevels struct {
	From         time.Time      `json:"from" doc:"Start of the period"`
	To           time.Time      `json:"to" doc:"End of the period"`
	All          ServiceLevel   `json:"all" doc:"All together"`
	Applications []ServiceLevel `json:"applications" doc:"The slowest first (p99 from commit to healthy), at most 1,000"`
	More         int            `json:"more,omitempty" doc:"Number of applications that are not listed"`
}
