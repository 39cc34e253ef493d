package notify

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
	"unicode"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// The standard templates.
const (
	standardTitle = `{{.Name}}: {{.What}}`
	standardText  = `{{.Summary}}{{if .Message}}
{{.Message}}{{end}}{{if .Subject}}
{{short .Revision}} {{.Subject}} ({{.Author}}){{end}}`
)

const (
	// maxValue is how long a value that a function of a template makes may get, maxNodes how many steps a template has.
	maxValue, maxNodes = MaxField, 500
	// MaxField is how long a field is that a template is given.
	MaxField = 4 << 10
)

// Fields are what templates are given. All are texts, so that nothing can be counted up to, but for Labels.
type Fields struct {
	Event, What, Summary                                string
	ID, Object, Type, Scope                             string
	Name, Namespace, Agent, Service, Environment        string
	Sync, Health                                        string
	Action, Automatic, Actor, Revision, Author, Subject string
	Message, Ledger                                     string
	At, Since, ExpiresAt                                string
	Labels                                              map[string]string
}

// fieldsOf are the fields of an event.
func fieldsOf(e *api.NotificationEvent) *Fields {
	f := &Fields{
		Event: e.Event, What: what(e), Summary: summary(e), ID: e.ID, Object: e.Object.ID, Type: e.Object.Type, Scope: string(e.Object.Scope),
		Name: e.Name, Namespace: e.Namespace, Agent: e.Agent, Service: e.Service, Environment: e.Environment, Sync: e.Sync, Health: e.Health,
		Action: e.Action, Actor: e.Actor, Revision: e.Revision, Author: e.Author, Subject: e.Subject, Message: e.Message, Ledger: e.Ledger,
		At: moment(e.At), Since: moment(e.Since), ExpiresAt: moment(e.ExpiresAt), Labels: map[string]string{},
	}
	if e.Automatic {
		f.Automatic = "true"
	}
	values := reflect.ValueOf(f).Elem()
	for i := range values.NumField() {
		if field := values.Field(i); field.Kind() == reflect.String {
			field.SetString(legible.Prefix(unlinked(field.String()), MaxField))
		}
	}
	for name, value := range e.Labels {
		f.Labels[legible.Prefix(unlinked(name), MaxField)] = legible.Prefix(unlinked(value), MaxField)
	}
	return f
}

// What chats take for a link with a text of its own, or for a call to all who are there.
var (
	markup = regexp.MustCompile(`<([!@#]|[A-Za-z][A-Za-z0-9+.-]*:)`)
	calls  = regexp.MustCompile(`(?i)@(everyone|here|channel|all)\b`)
)

// unlinked keeps a text of others a text in chats: it has no link with a text of its own, and notifies no group.
func unlinked(s string) string {
	const apart = "\u200b" // it takes no room
	return calls.ReplaceAllString(markup.ReplaceAllString(s, "<"+apart+"$1"), "@"+apart+"$1")
}

func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// what says in some words what happened.
func what(e *api.NotificationEvent) string {
	switch e.Event {
	case api.NotifySyncSucceeded:
		return e.Action + " succeeded"
	case api.NotifySyncFailed:
		return e.Action + " failed"
	case api.NotifyOutOfSync:
		return "out of sync"
	case api.NotifyHealthy:
		return "healthy again"
	case api.NotifyReverted:
		return "drift was put back"
	case api.NotifyDeleted:
		return "deleted"
	case api.NotifyHeld:
		return "sync is held"
	case api.NotifyDrift:
		return "out of sync since " + moment(e.Since)
	case api.NotifyDisconnected:
		return "disconnected since " + moment(e.Since)
	case api.NotifyConnected:
		return "connected again, after it was disconnected since " + moment(e.Since)
	case api.NotifyCertificate, api.NotifyToken:
		return "ends at " + moment(e.ExpiresAt)
	}
	return e.Event
}

// summary says it in a sentence.
func summary(e *api.NotificationEvent) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	kind := map[string]string{
		api.TypeApplication: "Application", api.TypeAgent: "Agent", api.TypeCert: "Certificate for", api.TypeToken: "API token",
	}[e.Object.Type]
	id := e.Object.ID
	if e.Object.Type == api.TypeToken {
		id = e.Name + " of " + e.Actor
	}
	add("service", e.Service)
	add("environment", e.Environment)
	add("health", e.Health)
	if e.Object.Type == api.TypeApplication {
		add("by", e.Actor)
	}
	out := strings.TrimSpace(kind+" "+id) + ": " + what(e)
	if len(parts) > 0 {
		out += " (" + strings.Join(parts, ", ") + ")"
	}
	return out
}

// functions are those of templates, in place of those of the package that can make much of little.
func functions() template.FuncMap {
	bounded := func(make func(string) string) func(string) (string, error) {
		return func(s string) (string, error) {
			if out := make(s); len(out) <= maxValue {
				return out, nil
			}
			return "", errors.New("a value gets too long")
		}
	}
	missing := func(...any) (string, error) { return "", errors.New("there is no such function in templates of rules") }
	return template.FuncMap{
		"upper": bounded(strings.ToUpper), "lower": bounded(strings.ToLower), "trim": bounded(strings.TrimSpace),
		"short": func(s string) string { return legible.Prefix(s, 8) },
		"line":  func(s string) string { line, _, _ := strings.Cut(s, "\n"); return line },
		"default": func(standard, s string) string {
			if s == "" {
				return standard
			}
			return s
		},
		"contains":  func(part, s string) bool { return strings.Contains(s, part) },
		"hasPrefix": func(part, s string) bool { return strings.HasPrefix(s, part) },
		"print":     missing, "printf": missing, "println": missing, "html": missing, "js": missing, "urlquery": missing,
		"call": missing, "slice": missing,
	}
}

// Template is the two templates of a rule, read and found harmless.
type Template struct{ title, text *template.Template }

// ReadTemplate reads the templates of a rule: the standard ones where they are empty. It refuses what could take long:
// they cannot count, nor call each other, nor go over something within going over something.
func ReadTemplate(title, text string) (*Template, error) {
	if title == "" {
		title = standardTitle
	}
	if text == "" {
		text = standardText
	}
	t := &Template{}
	var err error
	if t.title, err = readTemplate("title", title); err != nil {
		return nil, err
	}
	if t.text, err = readTemplate("text", text); err != nil {
		return nil, err
	}
	// What it does with nothing shows fields that there are none of.
	_, _, err = t.Render(&api.NotificationEvent{Event: api.NotifyTest, Labels: map[string]string{"team": "shop"}})
	return t, err
}

func readTemplate(name, text string) (*template.Template, error) {
	invalid := func(err error) error {
		return &api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf("template %s: %s", name, err), Field: "body." + name}
	}
	t, err := template.New(name).Option("missingkey=zero").Funcs(functions()).Parse(text)
	if err != nil {
		return nil, invalid(err)
	}
	if len(t.Templates()) > 1 {
		return nil, invalid(errors.New("it defines another template, which rules do not have"))
	}
	nodes := 0
	if t.Tree != nil {
		if err := harmless(t.Root, false, &nodes); err != nil {
			return nil, invalid(err)
		}
	}
	return t, nil
}

// harmless refuses what could take long.
func harmless(node parse.Node, inRange bool, nodes *int) error {
	if *nodes++; *nodes > maxNodes {
		return fmt.Errorf("it has more than %d steps", maxNodes)
	}
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, each := range n.Nodes {
			if err := harmless(each, inRange, nodes); err != nil {
				return err
			}
		}
	case *parse.RangeNode:
		if inRange || !isLabels(n.Pipe) {
			return errors.New("range goes over .Labels or $.Labels only, and not within another range")
		}
		return both(n.List, n.ElseList, true, nodes)
	case *parse.IfNode:
		return both(n.List, n.ElseList, inRange, nodes)
	case *parse.WithNode:
		return both(n.List, n.ElseList, inRange, nodes)
	case *parse.TemplateNode:
		return errors.New("it calls a template, which rules do not have")
	}
	return nil
}

func both(list, otherwise *parse.ListNode, inRange bool, nodes *int) error {
	if err := harmless(list, inRange, nodes); err != nil {
		return err
	}
	return harmless(otherwise, inRange, nodes)
}

// isLabels reports whether a pipe is nothing but the labels.
func isLabels(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	switch n := pipe.Cmds[0].Args[0].(type) {
	case *parse.FieldNode:
		return len(n.Ident) == 1 && n.Ident[0] == "Labels"
	case *parse.VariableNode:
		return len(n.Ident) == 2 && n.Ident[0] == "$" && n.Ident[1] == "Labels"
	}
	return false
}

// Render makes title and text of an event. What is too long is cut.
func (t *Template) Render(e *api.NotificationEvent) (title, text string, err error) {
	fields := fieldsOf(e)
	if title, err = execute(t.title, fields, api.MaxNotificationTitle); err != nil {
		return "", "", err
	}
	// It becomes a header of mails.
	title = strings.Join(strings.Fields(plain(title)), " ")
	text, err = execute(t.text, fields, api.MaxNotificationText)
	return title, strings.TrimSpace(plain(text)), err
}

// errFull says that there is enough.
var errFull = errors.New("enough")

func execute(t *template.Template, fields *Fields, most int) (string, error) {
	var b strings.Builder
	err := t.Execute(&full{&b, most}, fields)
	if err != nil && !errors.Is(err, errFull) {
		return "", &api.Error{Code: api.CodeInvalid, Message: legible.Cut(whyNot(t.Name(), err), maxWhy), Field: "body." + t.Name()}
	}
	return b.String(), nil
}

// maxWhy is how much of the error of a template is reported.
const maxWhy = 600

// whyNot says what is wrong with a template, in the words of those who write it.
func whyNot(name string, err error) string {
	text := strings.TrimPrefix(err.Error(), "template: ")
	_, rest, found := strings.Cut(text, "can't evaluate field ")
	if !found {
		return "template " + text
	}
	field, _, _ := strings.Cut(rest, " ")
	var known []string
	for f := range reflect.TypeFor[Fields]().Fields() {
		known = append(known, "."+f.Name)
	}
	return fmt.Sprintf("template %s: there is no field .%s: it can be %s", name, field, strings.Join(known, ", "))
}

// full takes so much and no more.
type full struct {
	to   io.Writer
	left int
}

// Write implements io.Writer.
func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		_, _ = io.WriteString(f.to, legible.Prefix(string(p), f.left)) // to memory
		f.left = 0
		return 0, errFull
	}
	f.left -= len(p)
	return f.to.Write(p)
}

// plain takes out what would not be shown, but for line breaks and tabs.
func plain(s string) string {
	return legible.Text(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")), math.MaxInt)
}
