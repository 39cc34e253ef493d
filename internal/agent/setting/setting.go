// Package setting keeps the settings that people write over the link, tries connections, and shows what repositories have.
package setting

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/seal"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Config is what commands about settings and repositories need of an agent.
type Config struct {
	Apps      dynamic.Interface // of the cluster that holds the settings
	Namespace string            // of the agent
	Engine    *engine.Engine
	Settings  *place.Settings
	Clusters  *place.Clusters
	Git       *git.Client
	Artifacts *place.Artifacts
	Outbound  *outward.Policy
	Plugins   render.Plugins // nil: there are none
	// Registries opens what OCI registries have.
	Registries *place.Registries
	Keys       func() []link.SealKey // that open what is sealed to the agent, the newest first
	Now        func() time.Time
	// ReadBy is the engine that reads settings. Beside an Argo CD, repositories and clusters are found by their address,
	// whatever project they are of.
	ReadBy agentapi.Engine
}

// keeper keeps settings.
type keeper struct {
	Config
	addresses sync.Mutex // held while a Secret is written that others may have the address of
}

// browser shows what repositories have.
type browser struct{ Config }

// Executors are the commands about settings and repositories.
func Executors(c Config) map[agentapi.Kind]link.Executor {
	k, b := &keeper{Config: c}, &browser{c}
	return map[agentapi.Kind]link.Executor{
		agentapi.KindSettingsApply: command.On(k.settingApply), agentapi.KindSettingsDelete: command.On(k.settingDelete),
		agentapi.KindSettingsTest:   command.On(k.settingTest),
		agentapi.KindRepositoryRefs: command.On(b.repositoryRefs), agentapi.KindRepositoryPaths: command.On(b.repositoryPaths),
	}
}

// Limits of a setting.
const (
	maxSettingFields = 100
	maxSettingBytes  = 512 << 10
)

// labelOf is the value of the secret-type label for a type of settings; "" for what is kept in ConfigMaps.
func labelOf(t agentapi.SettingType) string {
	switch t {
	case agentapi.SettingRepository:
		return v1alpha1.SecretTypeRepository
	case agentapi.SettingRepoCreds:
		return v1alpha1.SecretTypeRepoCreds
	case agentapi.SettingCluster:
		return v1alpha1.SecretTypeCluster
	}
	return ""
}

// setting is what a command about a setting asks for. Its fields are those that are public and those that were sealed.
func (v *keeper) setting(cmd agentapi.Command, req agentapi.SettingChange) (agentapi.SettingChange, error) {
	switch req.Type {
	case agentapi.SettingRepository, agentapi.SettingRepoCreds, agentapi.SettingCluster:
		if wrong := validation.IsDNS1123Subdomain(req.Name); len(wrong) > 0 {
			return req, command.Refuse(agentapi.CodeInvalid, "%.80q cannot be the name of a Secret: %s", req.Name, wrong[0])
		}
	case agentapi.SettingCertificate, agentapi.SettingKnownHost, agentapi.SettingGPGKey:
	default:
		return req, command.Refuse(agentapi.CodeUnsupported, "this agent knows no settings of the type %.40q", req.Type)
	}
	if cmd.Target.Namespace != "" && cmd.Target.Namespace != v.Namespace {
		return req, command.Refuse(agentapi.CodeForbidden, "settings count in the agent's namespace %s only, not in %s", v.Namespace,
			cmd.Target.Namespace)
	}
	sealed, err := v.unseal(cmd, req)
	if err != nil {
		return req, err
	}
	return joined(req, sealed)
}

// joined is a change with the fields that were sealed beside those that were not. Each is where it belongs: nothing that is
// judged is sealed, and nothing secret is open.
func joined(req agentapi.SettingChange, sealed map[string]string) (agentapi.SettingChange, error) {
	fields := make(map[string]string, len(req.Fields)+len(sealed))
	size := 0
	for _, part := range []struct {
		fields map[string]string
		takes  func(string) bool
		refuse string
	}{
		{req.Fields, req.Type.Open, "the field %.80q is none that a %s has in the open: it has %s, and sealed %s"},
		{sealed, req.Type.Secret, "a field is sealed that is no secret of a %[2]s: open are %[3]s, and sealed %[4]s"},
	} {
		for name, value := range part.fields {
			if !part.takes(name) {
				open, secret := strings.Join(req.Type.OpenFields(), ", "), cmp.Or(strings.Join(req.Type.SecretFields(), ", "), "nothing")
				return req, command.Refuse(agentapi.CodeInvalid, part.refuse, name, req.Type, open, secret)
			}
			fields[name] = value
			size += len(name) + len(value)
		}
	}
	if len(fields) > maxSettingFields || size > maxSettingBytes {
		return req, command.Refuse(agentapi.CodeTooLarge, "a setting has at most %d fields and %d KiB", maxSettingFields, maxSettingBytes>>10)
	}
	req.Fields, req.Sealed = fields, nil
	return req, nil
}

// unseal opens what was sealed for this very command.
func (v *keeper) unseal(cmd agentapi.Command, req agentapi.SettingChange) (map[string]string, error) {
	if len(req.Sealed) == 0 {
		return nil, nil
	}
	what := seal.Purpose{
		Agent: cmd.Agent, Verb: string(cmd.Kind), Type: string(req.Type), Name: req.Name, Actor: cmd.User, Open: req.Fields,
		Labels: req.Labels, At: v.Now(),
	}
	if req.Judged != nil {
		what.Project = req.Judged.To
	}
	err := error(command.Refuse(agentapi.CodeConflict, "this agent has no key to open secrets with yet: register it first"))
	for _, k := range v.Keys() {
		key, wrong := seal.PrivateKeyFrom(k.Private[:])
		if wrong != nil {
			return nil, wrong
		}
		fields, wrong := seal.Open(&key, req.Sealed, what)
		if wrong == nil {
			return fields, nil
		}
		err = command.Refuse(agentapi.CodeInvalid, "%v", wrong)
	}
	return nil, err
}

func (v *keeper) config(kind string) dynamic.ResourceInterface {
	return v.Apps.Resource(schema.GroupVersionResource{Version: "v1", Resource: kind}).Namespace(v.Namespace)
}

func (v *keeper) settingApply(ctx context.Context, cmd agentapi.Command, req agentapi.SettingChange) (any, error) {
	req, err := v.setting(cmd, req)
	if err != nil {
		return nil, err
	}
	if labelOf(req.Type) == "" {
		return v.entryApply(ctx, req)
	}
	var got agentapi.Setting
	err = retry.OnError(retry.DefaultBackoff, func(err error) bool { return req.Version == "" && apierrors.IsConflict(err) }, func() error {
		got, err = v.secretApply(ctx, req)
		return err
	})
	return agentapi.SettingResult{Setting: got}, err
}

// labelled is a Secret as it is, and what it holds.
type keptSecret struct {
	obj  *unstructured.Unstructured // nil where it is not there
	data map[string][]byte
}

// readSecret reads a Secret of a type. One of another kind, such as the agent's own, is never touched.
func (v *keeper) readSecret(ctx context.Context, t agentapi.SettingType, name string) (keptSecret, error) {
	obj, err := v.config("secrets").Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return keptSecret{}, nil
	}
	if err != nil {
		return keptSecret{}, fmt.Errorf("read Secret %s: %w", name, err)
	}
	if obj.GetLabels()[v1alpha1.LabelSecretType] != labelOf(t) {
		return keptSecret{}, command.Refuse(agentapi.CodeConflict, "there is a Secret %s already, which is no %s: choose another name", name, t)
	}
	return keptSecret{obj: obj, data: place.SecretOf(obj).Data}, nil
}

// checkJudged makes sure that rights were asked for the projects that a Secret is of, before a change and after it: what the
// server knows of it can be older.
func checkJudged(req agentapi.SettingChange, have keptSecret, next map[string][]byte) error {
	if req.Judged == nil {
		return command.Refuse(agentapi.CodeUnsupported,
			"the server does not name the project for which it checked rights to the %s: update the server", req.Type)
	}
	project := func(data map[string][]byte) string { return strings.TrimSpace(string(data["project"])) }
	from := req.Judged.To
	if req.Judged.From != nil {
		from = *req.Judged.From
	}
	if have.obj != nil && project(have.data) != from {
		return command.Refuse(agentapi.CodeConflict,
			"%s %s is of another project than the server knew: read it again and repeat the change, or choose another name", req.Type, req.Name)
	}
	if project(next) != req.Judged.To {
		return command.Refuse(agentapi.CodeForbidden,
			"%s %s would be of another project than rights were asked for: read it again and repeat the change", req.Type, req.Name)
	}
	return nil
}

func (v *keeper) secretApply(ctx context.Context, req agentapi.SettingChange) (agentapi.Setting, error) {
	have, err := v.readSecret(ctx, req.Type, req.Name)
	if err == nil && have.obj == nil && v.isImplied(req) {
		req = described(req)
	}
	switch {
	case err != nil:
		return agentapi.Setting{}, err
	case have.obj == nil && (req.Update || req.Version != ""):
		return agentapi.Setting{}, v.absent(req)
	case have.obj != nil && req.Create:
		return agentapi.Setting{}, command.Refuse(agentapi.CodeConflict,
			"%s %s exists already: change it, or choose another name", req.Type, req.Name)
	case have.obj != nil && req.Version != "" && have.obj.GetResourceVersion() != req.Version:
		return agentapi.Setting{}, command.Refuse(agentapi.CodeConflict,
			"%s %s has changed since version %s: read it again and repeat the change", req.Type, req.Name, req.Version)
	}
	next := nextData(have.data, req)
	if err := checkJudged(req, have, next); err != nil {
		return agentapi.Setting{}, err
	}
	if err := v.checkAims(req, have.data, next); err != nil {
		return agentapi.Setting{}, err
	}
	if err := v.checkSetting(req, have.data, next); err != nil {
		return agentapi.Setting{}, err
	}
	if req.Test {
		if _, err := v.try(ctx, req.Type, next, req.Revision); err != nil {
			return agentapi.Setting{}, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	got, err := v.writeAlone(ctx, have, next, req)
	if err != nil {
		return agentapi.Setting{}, err
	}
	return shown(next, got)
}

// worded is an error of an API server without its words, which can quote a Secret.
func (v *keeper) worded(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("%s: it changed in the meantime: %w", what, apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "", nil))
	}
	return command.Refuse(cmp.Or(command.CodeOf(err), agentapi.CodeInvalid), "%s: the API server reports %s", what,
		apierrors.ReasonForError(err))
}

// nextData is what a Secret holds after a change: a field that is not named stays, an empty one goes.
func nextData(have map[string][]byte, req agentapi.SettingChange) map[string][]byte {
	out := maps.Clone(have)
	if out == nil {
		out = map[string][]byte{}
	}
	for name, value := range req.Fields {
		if out[name] = []byte(value); value == "" {
			delete(out, name)
		}
	}
	keepWay(have, out, req)
	return out
}

func (v *keeper) writeSecret(ctx context.Context, have keptSecret, next map[string][]byte,
	req agentapi.SettingChange,
) (*unstructured.Unstructured, error) {
	if have.obj == nil {
		labels := map[string]any{v1alpha1.LabelSecretType: labelOf(req.Type)}
		for name, value := range req.Labels {
			if name != v1alpha1.LabelSecretType {
				labels[name] = value
			}
		}
		data := make(map[string]any, len(next))
		for name, raw := range next {
			data[name] = base64.StdEncoding.EncodeToString(raw)
		}
		return v.config("secrets").Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data,
			"metadata": map[string]any{"name": req.Name, "namespace": v.Namespace, "labels": labels},
		}}, metav1.CreateOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
	}
	// What is there and not named stays, also what no type of ours has.
	obj := have.obj.DeepCopy()
	data, _ := obj.Object["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	for name := range req.Fields {
		if raw, ok := next[name]; ok {
			data[name] = base64.StdEncoding.EncodeToString(raw)
		} else {
			delete(data, name)
		}
	}
	obj.Object["data"] = data
	if req.Labels != nil {
		obj.SetLabels(nextLabels(obj.GetLabels(), req))
	}
	return v.config("secrets").Update(ctx, obj, metav1.UpdateOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
}

// nextLabels are the requested labels, and those that mean something to programs of the cluster.
func nextLabels(have map[string]string, req agentapi.SettingChange) map[string]string {
	out := maps.Clone(req.Labels)
	for name, value := range have {
		if strings.Contains(name, "kubernetes.io/") || strings.HasPrefix(name, v1alpha1.Group) || strings.HasPrefix(name, "argocd.argoproj.io/") {
			out[name] = value
		}
	}
	out[v1alpha1.LabelSecretType] = labelOf(req.Type)
	return out
}

// shown is what may be known of a Secret.
func shown(data map[string][]byte, obj *unstructured.Unstructured) (agentapi.Setting, error) {
	labels := maps.Clone(obj.GetLabels())
	delete(labels, v1alpha1.LabelSecretType)
	raw, err := link.SecretSetting(data, labels, obj.GetResourceVersion(), nil, nil)
	if err != nil {
		return agentapi.Setting{}, err
	}
	var out agentapi.Setting
	err = strict.Decode(raw, &out, strict.Foreign)
	return out, err
}

// checkUnused refuses a field that the engine makes nothing of, rather than keep a promise that no agent fulfils. What is there
// already, as Secrets of an earlier Argo CD have it, stays.
func (v *keeper) checkUnused(req agentapi.SettingChange, have, next map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(req.Fields)) {
		value := strings.TrimSpace(string(next[name]))
		if why := v.ReadBy.Unused(req.Type, name, value); why != "" && strings.TrimSpace(string(have[name])) != value {
			return command.Refuse(agentapi.CodeUnsupported, "%s of a %s has no effect here; %s", name, req.Type, why)
		}
	}
	return nil
}

// checkSetting finds what makes no sense before anything is written.
func (v *keeper) checkSetting(req agentapi.SettingChange, have, next map[string][]byte) error {
	if err := v.checkUnused(req, have, next); err != nil {
		return err
	}
	field := addressField(req.Type)
	address := strings.TrimSpace(string(next[field]))
	if address == "" {
		return command.Refuse(agentapi.CodeInvalid, "a %s needs the field %s", req.Type, field)
	}
	if redact.HasUser(address) {
		return command.Refuse(agentapi.CodeInvalid,
			"the %s of a %s must not hold a user or password: give username and password as sealed fields", field, req.Type)
	}
	if err := v.checkIdentity(have, next); err != nil {
		return err
	}
	if req.Type == agentapi.SettingCluster {
		if err := place.CheckCluster(req.Name, have, next); err != nil {
			return command.Refuse(agentapi.CodeInvalid, "%v", err)
		}
	}
	return v.checkAddress(req, have, next, v.Settings.OfKind(labelOf(req.Type)))
}

// checkIdentity keeps the identity of the agent's pod out of settings of one project. What is there already is refused where it is used.
func (v *keeper) checkIdentity(have, next map[string][]byte) error {
	project := strings.TrimSpace(string(next["project"]))
	if project == "" || v.ReadBy.Known() == agentapi.EngineArgoCD {
		return nil
	}
	for _, field := range []string{"useAzureWorkloadIdentity", "workloadIdentity"} {
		if own := strings.TrimSpace(string(next[field])); own != "" && own != "false" && strings.TrimSpace(string(have[field])) != own {
			return command.Refuse(agentapi.CodeForbidden, "%s is the identity of the agent, and would let project %.80s read all that the agent "+
				"may: leave project out, or use credentials of the project's own", field, project)
		}
	}
	return nil
}

func (v *keeper) settingDelete(ctx context.Context, cmd agentapi.Command, req agentapi.SettingChange) (any, error) {
	req, err := v.setting(cmd, req)
	if err != nil {
		return nil, err
	}
	if labelOf(req.Type) == "" {
		return v.entryDelete(ctx, req)
	}
	have, err := v.readSecret(ctx, req.Type, req.Name)
	switch {
	case err != nil:
		return nil, err
	case have.obj == nil:
		return nil, v.absent(req)
	case req.Version != "" && have.obj.GetResourceVersion() != req.Version:
		return nil, command.Refuse(agentapi.CodeConflict, "%s %s has changed since version %s: read it again and repeat the change", req.Type,
			req.Name, req.Version)
	}
	if err := checkJudged(req, have, have.data); err != nil {
		return nil, err
	}
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(have.obj.GetUID())), DryRun: command.DryRun(req.DryRun)}
	if err := v.config("secrets").Delete(ctx, req.Name, options); err != nil {
		return nil, v.worded(err, "delete Secret %s", req.Name)
	}
	out, err := shown(have.data, have.obj)
	return agentapi.SettingResult{Setting: out}, err
}
