package object

import (
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// SyncOptionsAnnotation holds the sync options of one object, comma-separated. The name is Argo CD's.
const SyncOptionsAnnotation = "argocd.argoproj.io/sync-options"

// Choice is an option that is on, off, or left to the next level.
type Choice uint8

// The choices.
const (
	Unset Choice = iota
	Yes
	No
)

// Is reports whether the option is on.
func (c Choice) Is() bool { return c == Yes }

// Or is c, or what other says where c says nothing.
func (c Choice) Or(other Choice) Choice {
	if c == Unset {
		return other
	}
	return c
}

// Consent says whether an object may be deleted.
type Consent uint8

// The consents.
const (
	ConsentUnset  Consent = iota
	ConsentGiven          // =true
	ConsentDenied         // =false
	ConsentAsked          // =confirm: a person must say so first
)

// Or is c, or what other says where c says nothing.
func (c Consent) Or(other Consent) Consent {
	if c == ConsentUnset {
		return other
	}
	return c
}

// Options are the sync options of one object or of an Application. The zero value has none.
type Options struct {
	Prune, Delete Consent

	Validate     Choice // refuse fields that the kind does not have
	SkipDryRun   Choice // SkipDryRunOnMissingResource: the kind may come later
	PruneLast    Choice
	Replace      Choice // write the object as a whole
	Force        Choice // delete it and make it again if it cannot be changed
	ServerSide   Choice // ServerSideApply
	Migrate      Choice // ClientSideApplyMigration: take over what client-side apply wrote
	OutOfSync    Choice // ApplyOutOfSyncOnly
	FailOnShared Choice // FailOnSharedResource
	Respect      Choice // RespectIgnoreDifferences
	Namespace    Choice // CreateNamespace

	Propagation string // PrunePropagationPolicy: "foreground", "background", "orphan" or ""

	// Unknown lists options that are misspelt, or mean nothing where they were found; at most maxUnknown.
	Unknown []string
}

// Limits of Options.Unknown: it is shown to people.
const (
	maxUnknown    = 10
	maxUnknownLen = 80
)

// OptionsOf reads the options in the annotation of an object tree.
func OptionsOf(obj map[string]any) Options {
	return ParseOptions(Annotation(obj, SyncOptionsAnnotation))
}

// ParseOptions reads the comma-separated options of one object. Of an option that comes twice the first counts.
func ParseOptions(list string) Options {
	var o Options
	if list == "" {
		return o
	}
	for option := range strings.SplitSeq(list, ",") {
		o.add(strings.TrimSpace(option), false)
	}
	return o
}

// AppOptions reads the options of an Application or of an operation.
func AppOptions(list []string) Options {
	var o Options
	for _, option := range list {
		o.add(strings.TrimSpace(option), true)
	}
	return o
}

func (o *Options) add(option string, app bool) {
	if option == "" {
		return
	}
	name, value, _ := strings.Cut(option, "=")
	ok := false
	switch target := o.choice(name, app); {
	case target != nil:
		ok = target.read(value)
	case name == "Prune":
		ok = o.Prune.read(value)
	case name == "Delete":
		ok = o.Delete.read(value)
	case name == "PrunePropagationPolicy" && app:
		if ok = value == "foreground" || value == "background" || value == "orphan"; ok && o.Propagation == "" {
			o.Propagation = value
		}
	}
	if !ok && len(o.Unknown) < maxUnknown {
		o.Unknown = append(o.Unknown, legible.Cut(option, maxUnknownLen))
	}
}

// choice finds the option of that name; nil where there is none, or none at this place.
func (o *Options) choice(name string, app bool) *Choice {
	switch name {
	case "Validate":
		return &o.Validate
	case "SkipDryRunOnMissingResource":
		return &o.SkipDryRun
	case "PruneLast":
		return &o.PruneLast
	case "Replace":
		return &o.Replace
	case "Force":
		return &o.Force
	case "ServerSideApply":
		return &o.ServerSide
	case "ClientSideApplyMigration":
		return &o.Migrate
	}
	if !app {
		return nil
	}
	switch name {
	case "ApplyOutOfSyncOnly":
		return &o.OutOfSync
	case "FailOnSharedResource":
		return &o.FailOnShared
	case "RespectIgnoreDifferences":
		return &o.Respect
	case "CreateNamespace":
		return &o.Namespace
	}
	return nil
}

// read takes a value and reports whether it is one. The first value stays.
func (c *Choice) read(value string) bool {
	read := Unset
	switch value {
	case "true":
		read = Yes
	case "false":
		read = No
	}
	*c = c.Or(read)
	return read != Unset
}

func (c *Consent) read(value string) bool {
	read := ConsentUnset
	switch value {
	case "true":
		read = ConsentGiven
	case "false":
		read = ConsentDenied
	case "confirm":
		read = ConsentAsked
	}
	*c = c.Or(read)
	return read != ConsentUnset
}

// Over returns the options of an object within an Application: its own go before the Application's. Unknown is the
// object's own: the Application's are reported once, not for each object.
func (o Options) Over(app Options) Options {
	return Options{
		Prune:        o.Prune.Or(app.Prune),
		Delete:       o.Delete.Or(app.Delete),
		Validate:     o.Validate.Or(app.Validate),
		SkipDryRun:   o.SkipDryRun.Or(app.SkipDryRun),
		PruneLast:    o.PruneLast.Or(app.PruneLast),
		Replace:      o.Replace.Or(app.Replace),
		Force:        o.Force.Or(app.Force),
		ServerSide:   o.ServerSide.Or(app.ServerSide),
		Migrate:      o.Migrate.Or(app.Migrate),
		OutOfSync:    app.OutOfSync,
		FailOnShared: app.FailOnShared,
		Respect:      app.Respect,
		Namespace:    app.Namespace,
		Propagation:  app.Propagation,
		Unknown:      o.Unknown,
	}
}

// Asks reports whether a person must approve that an object within an Application is pruned or deleted. A nil o has no
// options of its own.
func (o *Options) Asks(app Options) bool {
	if o != nil {
		app.Prune, app.Delete = o.Prune.Or(app.Prune), o.Delete.Or(app.Delete)
	}
	return app.Prune == ConsentAsked || app.Delete == ConsentAsked
}

// WithLive adds what only the live object asks for: an option that has left Git but not the cluster still says how the
// object is written.
func (o Options) WithLive(live Options) Options {
	o.Replace = o.Replace.Or(live.Replace)
	o.Force = o.Force.Or(live.Force)
	return o
}
