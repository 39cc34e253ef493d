package fleet

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

// SettingRoutes are what agents know of repositories, clusters, certificates and keys.
type SettingRoutes struct {
	*item.Clusters
	AgentList core.Entities[api.Agent]
}

// Routes are its rows of the table.
func (h *SettingRoutes) Routes() []core.Route {
	all := h.knownHostRoutes()
	for _, n := range h.settingNouns() {
		all = append(all, n.routes()...)
	}
	return all
}

// settingNoun is something that an agent keeps in a Secret or a ConfigMap of its cluster. The server has a copy without
// secrets, and passes on what a client sealed for the agent.
type settingNoun struct {
	h            *SettingRoutes
	setting      agentapi.SettingType
	kind         string // of items
	many, called string
	tests        bool // a connection can be tried
	example      string
}

func (h *SettingRoutes) settingNouns() []*settingNoun {
	return []*settingNoun{
		{
			h, agentapi.SettingRepository, api.KindRepository, "repositories", "repository", true,
			`{"name":"shop","fields":{"url":"https://git.example.org/shop.git","type":"git"}}`,
		},
		{
			h, agentapi.SettingRepoCreds, api.KindRepoCreds, "credential-templates", "credential template", false,
			`{"name":"example-org","fields":{"url":"https://git.example.org/"}}`,
		},
		{
			h, agentapi.SettingCluster, api.KindCluster, "clusters", "cluster", true,
			`{"name":"edge","fields":{"name":"edge","server":"https://edge.example.org:6443"}}`,
		},
		{
			h, agentapi.SettingCertificate, api.KindCertificate, "certificates", "certificate", false,
			`{"name":"git.example.org","fields":{"serverName":"git.example.org","certData":"-----BEGIN CERTIFICATE-----"}}`,
		},
		{
			h, agentapi.SettingGPGKey, api.KindGPGKey, "gpg-keys", "GnuPG key", false,
			`{"name":"4AEE18F83AFDEB23","fields":{"keyData":"-----BEGIN PGP PUBLIC KEY BLOCK-----"}}`,
		},
	}
}

func (n *settingNoun) name() string { return strings.ReplaceAll(strings.ToLower(n.called), " ", "-") }

func (n *settingNoun) permission(verb string) api.Permission {
	return api.Permission(string(item.TypeOf(n.kind)) + "_" + verb)
}

type settingCreate struct {
	item.AgentInput
	item.WaitInput
	core.TryInput
	Body api.SettingWrite
}

type settingUpdate struct {
	item.Input
	item.WaitInput
	core.TryInput
	Body api.SettingWrite
}

func (n *settingNoun) route(method, path, verb, id, summary string) core.Route {
	return core.Route{
		Method: method, Path: "/api/v1/agents/{agent}/" + n.many + path, Permission: n.permission(verb), ID: id, Summary: summary, Tag: n.many,
	}
}

func (n *settingNoun) routes() []core.Route {
	create := n.route(http.MethodPost, "", "edit", "create-"+n.name(), "Create a "+n.called+"; secrets are sealed by the client")
	create.Audit, create.Example = n.name()+".create", n.example
	create.Mount = core.Mount(core.Answer[settingCreate, item.CommandOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *settingCreate) (core.Target, error) {
			return n.reach(ctx, in.Agent, &in.Body, in.Body.Upsert)
		},
		Do: n.create,
	})
	update := n.route(http.MethodPut, "/{namespace}/{name}", "edit", "update-"+n.name(),
		"Change a "+n.called+"; secrets that are not sent are kept")
	update.Audit, update.Example = n.name()+".update", n.example
	update.Mount = core.Mount(core.Answer[settingUpdate, item.CommandOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *settingUpdate) (core.Target, error) {
			return n.find(ctx, in.Input)
		},
		Do: n.update,
	})
	remove := n.route(http.MethodDelete, "/{namespace}/{name}", "delete", "delete-"+n.name(), "Delete a "+n.called)
	remove.Audit = n.name() + ".delete"
	remove.Mount = core.Mount(core.Answer[item.ObjectDelete, item.CommandOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *item.ObjectDelete) (core.Target, error) {
			return n.find(ctx, in.Input)
		},
		Do: n.remove,
	})
	all := append(n.h.ItemReads(n.kind, n.many, n.name(), n.called), create, update, remove)
	if n.tests {
		all = append(all, n.test())
	}
	return all
}

// Find finds a setting that is there. What applies to more than its project is the agent's, regardless of its own fields.
func (n *settingNoun) find(ctx context.Context, in item.Input) (core.Target, error) {
	t, err := n.h.FindItem(ctx, n.kind, in.Agent, in.Namespace, in.Name)
	if err != nil || !n.setting.Wide() {
		return t, err
	}
	above, err := n.h.Above(ctx, n.kind, in)
	t.Object.Scope, t.Object.Asserted = above.Object.Scope, true
	return t, err
}

// place is where a setting of a project, with labels, belongs.
func (n *settingNoun) place(ctx context.Context, in item.Input, project string, labels map[string]string) (core.Target, error) {
	if n.setting.Wide() {
		return n.h.Above(ctx, n.kind, in)
	}
	return n.h.FreshItem(ctx, n.kind, in.Agent, in.Namespace, in.Name, project, labels)
}

// reach checks what is to be written, and finds what rights are asked for: what is there of that name, where it is to be
// Changed or tried then, or else what is to be made.
func (n *settingNoun) reach(ctx context.Context, agent string, w *api.SettingWrite, change bool) (core.Target, error) {
	if err := n.check(w); err != nil {
		return core.Target{}, err
	}
	at, err := core.Find(ctx, n.h.AgentList, api.TypeAgent, agent)
	if err != nil {
		return core.Target{}, err
	}
	a, _ := at.Value.(*api.Agent)
	in := item.At(agent, a.Status.Namespace, w.Name)
	if n.setting == agentapi.SettingKnownHost {
		in.Name = "ssh:*" // its lines name hosts, and may name any
	}
	if there, err := n.find(ctx, in); err == nil && change {
		return there, nil
	} else if err != nil && api.CodeOf(err) != api.CodeNotFound {
		return core.Target{}, err
	}
	return n.place(ctx, in, w.Fields["project"], w.Labels)
}

// judge asks for the rights to what a setting is to be, and says for which projects rights were asked.
func (n *settingNoun) judge(ctx context.Context, c *core.Call, in item.Input, w *api.SettingWrite) (*agentapi.Judged, error) {
	was, there := c.Found.Value.(*api.Item)
	project, given := w.Fields["project"]
	labels := w.Labels
	var out agentapi.Judged
	if there {
		out.From = &was.ArgoProject
		if !given {
			project = was.ArgoProject
		}
		if labels == nil {
			labels = was.Labels
		}
	}
	out.To = project
	if n.setting.Wide() {
		return &out, nil // the right to all of the agent was asked for
	}
	to, err := n.place(ctx, in, project, labels)
	if err != nil {
		return nil, err
	}
	return &out, c.MayBecome(to)
}

// Check refuses secrets that the server could read, and fields that are not known: the agent would refuse them too.
func (n *settingNoun) check(w *api.SettingWrite) error {
	if _, entry := w.Fields["project"]; entry && !n.setting.Open("project") {
		return &api.Error{
			Code: api.CodeInvalid, Field: "body.fields.project",
			Message: "a " + n.called + " counts for all projects of the agent: leave project out",
		}
	}
	if len(w.Labels) > 0 && !n.setting.Open("project") {
		return &api.Error{
			Code: api.CodeInvalid, Field: "body.labels", Message: "a " + n.called + " is an entry of a ConfigMap and has no labels: leave them out",
		}
	}
	for name, value := range w.Fields {
		if n.setting.Secret(name) {
			return &api.Error{Code: api.CodeInvalid, Field: "body.fields." + legible.Cut(name, 64), Message: "the field " + legible.Cut(name, 64) +
				" is a secret, and the server must not see it: send it in sealed, which is a JSON document in NaCl's anonymous box (crypto_box_seal) " +
				"to the agent's sealKey, in base64, as described in docs/guide/api.md; the command line does it automatically"}
		}
		if !n.setting.Open(name) {
			return &api.Error{
				Code: api.CodeInvalid, Field: "body.fields." + legible.Cut(name, 64),
				Message: "a " + n.called + " has no field " + legible.Cut(name, 64) + ": it has " + strings.Join(n.setting.OpenFields(), ", "),
			}
		}
		if redact.HasUser(value) {
			return &api.Error{
				Code: api.CodeInvalid, Field: "body.fields." + legible.Cut(name, 64),
				Message: "the address has a user, a password or a token in it: leave that out, and send username and password in sealed",
			}
		}
	}
	if _, err := base64.StdEncoding.DecodeString(string(w.Sealed)); err != nil {
		return &api.Error{
			Code: api.CodeInvalid, Field: "body.sealed", Message: "sealed is no base64: write it with the standard alphabet and padding",
		}
	}
	if w.Name == "" {
		address := w.Fields["url"]
		if address == "" {
			address = w.Fields["server"]
		}
		if address == "" {
			return &api.Error{Code: api.CodeInvalid, Field: "body.name", Message: "a name is missing: give one"}
		}
		w.Name = string(n.setting) + "-" + core.Digest(address)[:10]
	}
	if len(w.Name) > 253 || strings.ContainsAny(w.Name, "/ \t\r\n\x00") {
		return &api.Error{
			Code: api.CodeInvalid, Field: "body.name", Message: "the name has a slash or a blank, or is longer than 253 bytes: give another",
		}
	}
	return core.CheckLabels(w.Labels)
}

func (n *settingNoun) change(w *api.SettingWrite, dry bool) agentapi.SettingChange {
	sealed, _ := base64.StdEncoding.DecodeString(string(w.Sealed)) // checked
	return agentapi.SettingChange{
		Type: n.setting, Name: w.Name, Fields: w.Fields, Sealed: sealed, Labels: w.Labels, Version: w.Version, Test: w.Test, DryRun: dry,
		Revision: w.Revision,
	}
}

func (n *settingNoun) create(ctx context.Context, c *core.Call, in *settingCreate) (*item.CommandOutput, error) {
	change := n.change(&in.Body, in.DryRun)
	change.Create = !in.Body.Upsert
	agent, namespace, name, err := api.ParseItemID(c.Object.ID)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "agent %s has not reported its namespace yet: wait until it is connected", in.Agent)
	}
	if c.Found.Value == nil {
		_, err := n.h.FindItem(ctx, n.kind, agent, namespace, name)
		if err == nil {
			return nil, api.Errorf(api.CodeConflict, "%s %s is there already: choose another name, or change it with upsert", n.called, name)
		}
		if api.CodeOf(err) != api.CodeNotFound {
			return nil, err
		}
	}
	if change.Judged, err = n.judge(ctx, c, item.At(in.Agent, namespace, name), &in.Body); err != nil {
		return nil, err
	}
	return n.apply(ctx, c, in.WaitInput, item.At(in.Agent, namespace, name), change, in.Body)
}

func (n *settingNoun) update(ctx context.Context, c *core.Call, in *settingUpdate) (*item.CommandOutput, error) {
	if in.Body.Name != "" && in.Body.Name != in.Name {
		return nil, api.Errorf(api.CodeInvalid, "the body is about %q and the path about %q: names never change",
			legible.Cut(in.Body.Name, 100), in.Name)
	}
	in.Body.Name = in.Name
	if err := n.check(&in.Body); err != nil {
		return nil, err
	}
	judged, err := n.judge(ctx, c, in.Input, &in.Body)
	if err != nil {
		return nil, err
	}
	change := n.change(&in.Body, in.DryRun)
	change.Judged = judged
	change.Update = true
	return n.apply(ctx, c, in.WaitInput, in.Input, change, in.Body)
}

func (n *settingNoun) apply(ctx context.Context, c *core.Call, wait item.WaitInput, in item.Input, change agentapi.SettingChange,
	w api.SettingWrite,
) (*item.CommandOutput, error) {
	out, err := n.h.Command(ctx, c, wait, n.order(agentapi.KindSettingsApply, in, change, w.Reason))
	w.Sealed = ""
	c.After = w
	if err == nil && out.Body.Status == api.CommandDone && !change.DryRun {
		n.h.Copied(ctx, n.kind, in, out.Body.Result)
	}
	return out, err
}

func (n *settingNoun) order(kind agentapi.Kind, in item.Input, change agentapi.SettingChange, reason string) item.Order {
	return item.Order{
		Agent: in.Agent, Kind: string(kind), TargetKind: n.kind, Namespace: in.Namespace, Name: in.Name, Body: change, Reason: reason,
	}
}

func (n *settingNoun) remove(ctx context.Context, c *core.Call, in *item.ObjectDelete) (*item.CommandOutput, error) {
	was, _ := c.Before.(*api.Item)
	if in.Forget {
		if err := n.h.Items.DropItem(ctx, n.kind, in.Agent, in.Namespace, in.Name); err != nil {
			return nil, err
		}
		return &item.CommandOutput{Status: http.StatusOK, Body: api.Command{
			Agent: in.Agent, Kind: "item.forget", Object: c.Object,
			By: c.Who.Principal, Status: api.CommandDone, Message: "the server's copy is forgotten", CreatedAt: c.Now(), Deadline: c.Now(),
		}}, nil
	}
	if err := n.h.CheckReferences(ctx, was, in.Force); err != nil {
		return nil, err
	}
	judged := &agentapi.Judged{From: &was.ArgoProject, To: was.ArgoProject}
	change := agentapi.SettingChange{Type: n.setting, Name: in.Name, Judged: judged, Version: in.Version, DryRun: in.DryRun}
	out, err := n.h.Command(ctx, c, in.WaitInput, n.order(agentapi.KindSettingsDelete, in.Input, change, in.Reason))
	c.After = nil
	if err == nil && out.Body.Status == api.CommandDone && !in.DryRun {
		n.h.Dropped(ctx, n.kind, in.Input, was.Resource)
	}
	return out, err
}

type testOutput struct{ Body api.SettingTest }

// test tries a connection; nothing is changed.
func (n *settingNoun) test() core.Route {
	r := n.route(http.MethodPost, "/test", "edit", "test-"+n.name(), "Test a connection to a "+n.called+"; nothing is changed")
	r.Reads, r.Example = true, n.example
	r.Mount = core.Mount(core.Answer[settingCreate, testOutput]{
		Find: func(ctx context.Context, c *core.Call, in *settingCreate) (core.Target, error) {
			there, err := n.reach(ctx, in.Agent, &in.Body, true)
			if err != nil || there.Value == nil || api.CodeOf(c.May(c.Route.Permission, there)) != api.CodeNotFound {
				return there, err
			}
			// What the caller may not see is not there.
			_, namespace, name, err := api.ParseItemID(there.Object.ID)
			if err != nil {
				return core.Target{}, err
			}
			return n.place(ctx, item.At(in.Agent, namespace, name), in.Body.Fields["project"], in.Body.Labels)
		},
		Do: func(ctx context.Context, c *core.Call, in *settingCreate) (*testOutput, error) {
			_, namespace, name, _ := api.ParseItemID(c.Object.ID) // the agent does not need it
			at := item.At(in.Agent, namespace, name)
			change := n.change(&in.Body, in.DryRun)
			// The agent uses the secrets of what is there, so the right to that was asked for; without it, it looks at none.
			change.Update = c.Found.Value != nil
			change.Create = !change.Update
			var err error
			if change.Judged, err = n.judge(ctx, c, at, &in.Body); err != nil {
				return nil, err
			}
			answer, err := n.try(ctx, c, at, change)
			if err == nil {
				return &testOutput{answer}, nil
			}
			if code := api.CodeOf(err); code == api.CodeInternal || code == api.CodeUnavailable {
				return nil, err
			}
			return &testOutput{api.SettingTest{Message: core.NewProblem(err, c.ID).Detail}}, nil
		},
	})
	return r
}

// try has the agent try a connection, with its steps. An agent that is too old to know those is asked again without: it answers with
// an error if the connection does not work.
func (n *settingNoun) try(ctx context.Context, c *core.Call, at item.Input, change agentapi.SettingChange) (api.SettingTest, error) {
	var answer api.SettingTest
	change.Steps = true
	err := n.h.Ask(ctx, c, n.order(agentapi.KindSettingsTest, at, change, ""), &answer)
	var said *agentapi.Error
	if !errors.As(err, &said) || said.Code != agentapi.CodeUnsupported {
		return answer, err
	}
	change.Steps = false
	err = n.h.Ask(ctx, c, n.order(agentapi.KindSettingsTest, at, change, ""), &answer)
	return answer, err
}

// knownHosts is where known hosts are written; they are listed with the certificates.
func (h *SettingRoutes) knownHostRoutes() []core.Route {
	n := &settingNoun{
		h, agentapi.SettingKnownHost, api.KindCertificate, "known-hosts", "known host", false,
		`{"name":"git.example.org","fields":{"data":"git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample"}}`,
	}
	var out []core.Route
	for _, r := range n.routes() {
		if r.Method != http.MethodGet {
			out = append(out, r)
		}
	}
	return out
}
