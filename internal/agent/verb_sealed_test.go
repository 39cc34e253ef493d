package agent

import (
	"maps"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestASettingIsOfTheProjectThatRightsWereAskedFor(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	const kind = agentapi.SettingRepository
	at := s.setting(kind, "theirs")
	theirs := agentapi.SettingChange{Type: kind, Name: "theirs", Create: true, Fields: map[string]string{"url": "https://git.example.org/theirs.git", "project": "team-b"}}
	s.seal(agentapi.KindSettingsApply, &theirs, map[string]string{"username": "bot", "password": planted})
	must[any](s, agentapi.KindSettingsApply, at, theirs)
	before, _ := s.secretOf("theirs")
	teamA, teamB := "team-a", "team-b"
	attack := func(what string, verb agentapi.Kind, change agentapi.SettingChange, code agentapi.Code) {
		t.Helper()
		change.Type, change.Name = kind, "theirs"
		s.refused(verb, at, change, code)
		if after, _ := s.secretOf("theirs"); !maps.Equal(before, after) {
			t.Errorf("%s changed the Secret", what)
		}
	}
	url := map[string]string{"url": "https://git.example.org/mine.git", "project": "team-a"}
	for _, verb := range []agentapi.Kind{agentapi.KindSettingsApply, agentapi.KindSettingsTest} {
		// The server knew no setting of that name, or one of another project.
		attack("an upsert", verb, agentapi.SettingChange{Fields: url, Judged: &agentapi.Judged{To: teamA}}, agentapi.CodeConflict)
		attack("an update", verb, agentapi.SettingChange{Fields: url, Judged: &agentapi.Judged{From: &teamA, To: teamA}}, agentapi.CodeConflict)
		// What was judged is not what would be written.
		attack("another project", verb, agentapi.SettingChange{Fields: url, Judged: &agentapi.Judged{From: &teamB, To: teamB}}, agentapi.CodeForbidden)
		attack("no project", verb, agentapi.SettingChange{Fields: map[string]string{"project": ""}, Judged: &agentapi.Judged{From: &teamB, To: teamB}}, agentapi.CodeForbidden)
		attack("an older server", verb, agentapi.SettingChange{}, agentapi.CodeUnsupported)
		// Secrets that are there are sent nowhere else.
		for field, value := range map[string]string{"url": "https://evil.example.org/x.git", "proxy": "http://evil.example.org", "githubAppEnterpriseBaseUrl": "https://evil.example.org"} {
			attack("another "+field, verb, agentapi.SettingChange{Fields: map[string]string{field: value}, Judged: &agentapi.Judged{From: &teamB, To: teamB}}, agentapi.CodeInvalid)
		}
		half := agentapi.SettingChange{Type: kind, Name: "theirs", Fields: map[string]string{"url": "https://evil.example.org/x.git", "project": "team-b"}}
		s.seal(verb, &half, map[string]string{"username": "mine"})
		attack("a half", verb, half, agentapi.CodeInvalid)
	}
	// A seal is for one request.
	used := agentapi.SettingChange{Type: kind, Name: "theirs", Fields: map[string]string{"project": "team-b"}}
	s.seal(agentapi.KindSettingsTest, &used, map[string]string{"password": "other"})
	attack("a seal for a test", agentapi.KindSettingsApply, used, agentapi.CodeInvalid)
	s.seal(agentapi.KindSettingsApply, &used, map[string]string{"password": "other"})
	used.Fields = map[string]string{"project": "team-b", "insecure": "true"}
	attack("a seal beside other fields", agentapi.KindSettingsApply, used, agentapi.CodeInvalid)
	// Who knows the secrets sends them where they like.
	moved := agentapi.SettingChange{Type: kind, Name: "theirs", Fields: map[string]string{"url": "https://git.example.org/moved.git", "project": "team-b"}}
	s.seal(agentapi.KindSettingsApply, &moved, map[string]string{"username": "bot", "password": "other"})
	must[any](s, agentapi.KindSettingsApply, at, moved)
}

func TestAnEntryIsWrittenUnderTheNameThatRightsWereAskedFor(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	apply := func(kind agentapi.SettingType, name string, update bool, fields map[string]string) error {
		_, err := s.do(agentapi.KindSettingsApply, s.setting(kind, name), agentapi.SettingChange{Type: kind, Name: name, Update: update, Fields: fields})
		return err
	}
	const one, key = "ssh:a.example.org:ssh-ed25519", " ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n"
	if err := apply(agentapi.SettingKnownHost, "known-host", false, map[string]string{"data": "a.example.org" + key}); err != nil {
		t.Fatal(err)
	}
	for _, hosts := range []string{"*", "b.example.org", "a.example.org,*"} {
		if err := apply(agentapi.SettingKnownHost, one, true, map[string]string{"data": hosts + key}); err == nil {
			t.Errorf("who may change %s wrote the key of %s", one, hosts)
		}
	}
	if err := apply(agentapi.SettingKnownHost, one, true, map[string]string{"data": "a.example.org" + key}); err != nil {
		t.Error(err)
	}
	if err := apply(agentapi.SettingCertificate, "a.example.org", false, map[string]string{"serverName": "b.example.org", "certData": certificate(t)}); err == nil {
		t.Error("a certificate was written for another host than rights were asked for")
	}
	for _, kind := range []agentapi.SettingType{agentapi.SettingCertificate, agentapi.SettingKnownHost, agentapi.SettingGPGKey} {
		fields := map[string]string{"project": "team-a"}
		if err := apply(kind, "a.example.org", false, fields); err == nil || !strings.Contains(err.Error(), "project") {
			t.Errorf("a %s of a project: %v", kind, err)
		}
	}
}
