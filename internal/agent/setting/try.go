package setting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/helmrepo"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// tryLimit bounds the try of a connection.
const tryLimit = 30 * time.Second

// try connects with what a Secret of a type would hold, and says what it found, and the steps of it where there are some. The
// revision is of a Git repository.
func (v *keeper) try(ctx context.Context, t agentapi.SettingType, data map[string][]byte, revision string) (api.SettingTest, error) {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	var out api.SettingTest
	var err error
	fields := data // with what a template adds
	if t == agentapi.SettingRepository {
		fields = v.Settings.Repositories().FieldsIn(data)
	}
	switch {
	case t == agentapi.SettingCluster:
		out.Message, err = v.tryCluster(ctx, data)
	case t == agentapi.SettingRepoCreds:
		return api.SettingTest{OK: true}, nil // there is no repository to try it on
	case ofRegistry(fields):
		out.Message, err = v.tryRegistry(ctx, data)
	case strings.TrimSpace(string(fields["type"])) == repositoryHelm:
		out.Message, err = v.tryArtifacts(ctx, data)
	default:
		out, err = v.tryGit(ctx, data, revision)
	}
	if err == nil {
		out.OK, out.Message = true, hide(out.Message, fields)
		return hiddenSteps(out, fields), nil
	}
	text := hide(err.Error(), fields)
	switch {
	case string(data["project"]) != "" && (ctx.Err() != nil || tells(err)):
		text = hide(string(data["url"])+string(data["server"]), data) +
			": nothing that can be used answers there: check address, port, path, certificate, known hosts, network and proxy; " +
			"a user who may edit the agent's settings gets the exact reason without a project"
		out.Steps = nil // they reveal what is at the address
	case ctx.Err() != nil:
		text += fmt.Sprintf("; there was no answer within %s: check address, proxy and firewall", tryLimit)
	}
	out.Message = "the connection does not work: " + text
	return hiddenSteps(out, fields), command.Refuse(agentapi.CodeInvalid, "%s", out.Message)
}

// hiddenSteps takes the values of secret fields out of steps.
func hiddenSteps(t api.SettingTest, data map[string][]byte) api.SettingTest {
	for i := range t.Steps {
		t.Steps[i].Detail, t.Steps[i].Next = hide(t.Steps[i].Detail, data), hide(t.Steps[i].Next, data)
	}
	return t
}

// distant is an error that reveals what is at an address. A user who may edit the settings of one project only does not get it:
// the agent reaches more than they do.
type distant struct{ error }

// Unwrap gives the error itself.
func (d distant) Unwrap() error { return d.error }

// tells reports whether an error reveals what is at an address. That a credential is missing or wrong is reported to every user.
func tells(err error) bool {
	var found *git.Error
	if errors.As(err, &found) {
		return !errors.Is(found, git.ErrAuth) && !errors.Is(found, git.ErrDenied)
	}
	if errors.Is(err, web.ErrAuth) || errors.Is(err, web.ErrDenied) || errors.Is(err, web.ErrRefused) {
		return false
	}
	return errors.As(err, new(distant)) || errors.As(err, new(*web.Error)) || errors.Is(err, helmrepo.ErrIndex)
}

// tryGit does what reading a repository takes, layer by layer. Where it has no credential of its own, the template that fits is
// used, as for an Application.
func (v *keeper) tryGit(ctx context.Context, data map[string][]byte, revision string) (api.SettingTest, error) {
	var out api.SettingTest
	address := strings.TrimSpace(string(data["url"]))
	cred, err := v.Settings.Repositories().CredentialIn(data, "of the repository", address)
	if err != nil {
		return out, err
	}
	mirror, err := v.Git.Mirror(address, cred)
	if err != nil {
		return out, err
	}
	refs, steps := mirror.Try(ctx, revision)
	for _, s := range steps {
		out.Steps = append(out.Steps, stepOf(s))
		if s.Err != nil {
			err = s.Err
		}
	}
	if err != nil {
		return out, err
	}
	branches := 0
	for name := range refs.IDs {
		if strings.HasPrefix(name, "refs/heads/") {
			branches++
		}
	}
	out.Message = fmt.Sprintf("the repository answers: %d branches, the default is %s", branches,
		strings.TrimPrefix(refs.Default, "refs/heads/"))
	return out, nil
}

// stepOf is a step as it is shown.
func stepOf(s git.Step) api.SettingStep {
	out := api.SettingStep{Layer: string(s.Layer), Status: api.StepOK, Detail: s.Detail, Millis: s.Took.Milliseconds()}
	var known *git.Error
	switch {
	case !s.Tried:
		out.Status = api.StepSkipped
	case s.Err == nil:
		if s.Took > 0 {
			out.Millis = max(out.Millis, 1)
		}
	case errors.As(s.Err, &known):
		out.Status, out.Next = api.StepFailed, known.Hint
		if out.Detail = known.Kind.Error(); known.Detail != "" {
			out.Detail += " (" + known.Detail + ")"
		}
	default:
		out.Status = api.StepFailed
		out.Detail, out.Next, _ = strings.Cut(s.Err.Error(), ": did you mean")
		if out.Next != "" {
			out.Next = "did you mean" + out.Next
		}
	}
	return out
}

// tryCluster asks a cluster for its version.
func (v *keeper) tryCluster(ctx context.Context, data map[string][]byte) (string, error) {
	server := strings.TrimSpace(string(data["server"]))
	config, err := v.Clusters.TryConfig("of the cluster", data)
	if err != nil {
		return "", err
	}
	config.Timeout = tryLimit
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make client for %s: %w", server, err)
	}
	raw, err := client.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		if errors.Is(err, outward.ErrRefused) {
			return "", fmt.Errorf("%s: %w", server, place.RefusalOf(err))
		}
		return "", distant{fmt.Errorf("%s: %w", server, place.RefusalOf(err))}
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := strict.Decode(raw, &version, strict.Foreign); err != nil || place.VersionOf(version.GitVersion) == "" {
		return "", distant{fmt.Errorf("what answers at %s is no Kubernetes: check the address", server)}
	}
	// A version is reported to every user; that the credentials are good is seen by asking for more.
	if err := client.RESTClient().Get().AbsPath("/api/v1").Do(ctx).Error(); err != nil {
		return "", fmt.Errorf("the cluster answers (%s), but does not take these credentials: %w", place.VersionOf(version.GitVersion),
			place.RefusalOf(err))
	}
	return "the cluster answers: Kubernetes " + place.VersionOf(version.GitVersion), nil
}

func (v *keeper) settingTest(ctx context.Context, cmd agentapi.Command, req agentapi.SettingChange) (any, error) {
	req, err := v.setting(cmd, req)
	if err != nil {
		return nil, err
	}
	if labelOf(req.Type) == "" || req.Type == agentapi.SettingRepoCreds {
		return nil, command.Refuse(agentapi.CodeUnsupported, "there is nothing to try about a %s: try a repository that uses it", req.Type)
	}
	// A user who may not see what is there under that name gets the same answer as if nothing was.
	var have keptSecret
	if !req.Create {
		if have, err = v.readSecret(ctx, req.Type, req.Name); err != nil {
			return nil, err
		}
	}
	next := nextData(have.data, req)
	if err := checkJudged(req, have, next); err != nil {
		return nil, err
	}
	if err := v.checkAims(req, have.data, next); err != nil {
		return nil, err
	}
	found, err := v.try(ctx, req.Type, next, req.Revision)
	if err != nil && (!req.Steps || len(found.Steps) == 0) {
		return nil, err
	}
	return found, nil
}

// hide takes the values of secret fields out of a text.
func hide(text string, data map[string][]byte) string {
	var secrets []string
	for name, value := range data {
		if !link.PublicField(name) {
			secrets = append(secrets, string(value))
		}
	}
	return redact.Addresses(redact.NewKnown(secrets...).Text(text))
}

// checkAims keeps secrets from being sent elsewhere by a user who does not know them: with another address all of them are given
// again. A user who writes a repository does not know the login of a template.
func (v *keeper) checkAims(req agentapi.SettingChange, have, next map[string][]byte) error {
	for _, field := range req.Type.Aims() {
		was, will := strings.TrimSpace(string(have[field])), strings.TrimSpace(string(next[field]))
		if was == will || will == "" || will == "false" {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(have)) {
			if _, given := req.Fields[name]; !given && !req.Type.Open(name) && len(have[name]) > 0 {
				return command.Refuse(agentapi.CodeInvalid,
					"another %s requires the secrets of the %s again, so that they are not sent elsewhere: %s is missing", field, req.Type, name)
			}
		}
	}
	if req.Type != agentapi.SettingRepository {
		return nil
	}
	if field := v.Settings.Repositories().Borrows(next); field != "" {
		return command.Refuse(agentapi.CodeInvalid, "%s would send the login of a template another way: set it in the template, "+
			"or give the repository a login of its own", field)
	}
	return nil
}
