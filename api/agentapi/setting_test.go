package agentapi_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// judged are fields that somebody decides by: where something is, for whom, and how it is reached.
func judged() []string {
	return []string{
		"url", "server", "project", "name", "serverName", "proxy", "noProxy", "type", "insecure", "insecureIgnoreHostKey", "namespaces", "clusterResources",
		"githubAppEnterpriseBaseUrl", "azureActiveDirectoryEndpoint", "shard", "data", "certData", "keyData",
	}
}

func TestAFieldOfASettingIsEitherJudgedOrSecret(t *testing.T) {
	t.Parallel()
	for _, kind := range agentapi.SettingTypes() {
		if len(kind.OpenFields()) == 0 {
			t.Errorf("a %s has no fields", kind)
		}
		for _, field := range slices.Concat(kind.OpenFields(), kind.SecretFields(), judged()) {
			if kind.Open(field) && kind.Secret(field) || kind.Secret(field) && slices.Contains(judged(), field) {
				t.Errorf("%s of a %s can be sealed, and something is decided by it", field, kind)
			}
			for _, other := range []string{strings.ToUpper(field), strings.ToUpper(field[:1]) + field[1:], field + " ", field + "\x00"} {
				if other != field && (kind.Open(other) || kind.Secret(other)) {
					t.Errorf("%q is taken for a field of a %s", other, kind)
				}
			}
		}
		for _, field := range kind.Aims() {
			if !kind.Open(field) {
				t.Errorf("%s says where secrets of a %s go, and is not judged", field, kind)
			}
		}
	}
	if unknown := agentapi.SettingType("later"); unknown.Open("url") || unknown.Secret("password") {
		t.Error("a type that nobody knows has fields")
	}
}

// Pages are held to the same file (web/src/features/delivery/setting.test.ts).
func TestTheListOfFieldsThatPagesAreHeldToIsThisOne(t *testing.T) {
	t.Parallel()
	type fields struct {
		Open   []string `json:"open"`
		Secret []string `json:"secret"`
		// Idle are fields that only an Argo CD uses, and Own are those that it does not know.
		Idle []string `json:"idle,omitempty"`
		Own  []string `json:"own,omitempty"`
	}
	want := map[agentapi.SettingType]fields{}
	for _, kind := range agentapi.SettingTypes() {
		f := fields{Open: kind.OpenFields(), Secret: kind.SecretFields()}
		for _, field := range slices.Concat(f.Open, f.Secret) {
			if agentapi.EngineSlipway.Unused(kind, field, "true") != "" {
				f.Idle = append(f.Idle, field)
			}
			if agentapi.EngineArgoCD.Unused(kind, field, "true") != "" {
				f.Own = append(f.Own, field)
			}
		}
		want[kind] = f
	}
	raw, err := os.ReadFile("testdata/setting-fields.json")
	if err != nil {
		t.Fatal(err)
	}
	var got map[agentapi.SettingType]fields
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		text, err := json.MarshalIndent(want, "", "  ")
		t.Errorf("testdata/setting-fields.json (-want +got):\n%s\nit has to be\n%s\n%v", d, text, err)
	}
}

func TestAnArgoCDUsesEveryFieldAndTheOwnEngineSaysWhichItDoesNot(t *testing.T) {
	t.Parallel()
	unused := map[string]bool{}
	for _, kind := range agentapi.SettingTypes() {
		for _, field := range slices.Concat(kind.OpenFields(), kind.SecretFields()) {
			ours := slices.Contains([]string{"workloadIdentity", ".dockerconfigjson", "passCredentials"}, field)
			if why := agentapi.EngineArgoCD.Unused(kind, field, "true"); (why != "") != ours {
				t.Errorf("an Argo CD does not use %s of a %s: %s", field, kind, why)
			}
			if why := agentapi.EngineSlipway.Unused(kind, field, "true"); why != "" {
				unused[string(kind)+" "+field] = true
			}
			for _, nothing := range []string{"", " ", "false"} {
				if why := agentapi.EngineSlipway.Unused(kind, field, nothing); why != "" {
					t.Errorf("%q in %s of a %s is refused: %s", nothing, field, kind, why)
				}
			}
		}
	}
	want := map[string]bool{"cluster shard": true}
	for _, kind := range []agentapi.SettingType{agentapi.SettingRepository, agentapi.SettingRepoCreds} {
		want[string(kind)+" webhookManifestCacheWarmDisabled"] = true
	}
	if d := cmp.Diff(want, unused); d != "" {
		t.Errorf("fields without effect (-want +got):\n%s", d)
	}
	for _, kind := range []string{"git", "helm", "oci"} {
		if why := agentapi.Engine("").Unused(agentapi.SettingRepository, "type", kind); why != "" {
			t.Errorf("%s is refused: %s", kind, why)
		}
	}
}
