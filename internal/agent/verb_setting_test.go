package agent

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/seal"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// seal seals fields for a change by anna, whose rights are those to the project that it names.
func (s *stand) seal(verb agentapi.Kind, change *agentapi.SettingChange, fields map[string]string) {
	s.t.Helper()
	change.Judged = &agentapi.Judged{To: change.Fields["project"]}
	blob, err := seal.Seal(s.public, fields, s.purpose(verb, change))
	if err != nil {
		s.t.Fatal(err)
	}
	change.Sealed = blob
}

func (s *stand) purpose(verb agentapi.Kind, change *agentapi.SettingChange) seal.Purpose {
	return seal.Purpose{
		Agent: standUID, Verb: string(verb), Type: string(change.Type), Name: change.Name, Project: change.Judged.To, Actor: "user:anna", Open: change.Fields, Labels: change.Labels, At: time.Now(),
	}
}

func (s *stand) setting(t agentapi.SettingType, name string) agentapi.Target {
	return agentapi.Target{Kind: agentapi.ItemKind(t), Namespace: s.ns, Name: name}
}

// secretOf reads what a Secret holds.
func (s *stand) secretOf(name string) (map[string]string, *unstructured.Unstructured) {
	s.t.Helper()
	obj, err := s.in("", "v1", "secrets").Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	data, _, _ := unstructured.NestedStringMap(obj.Object, "data")
	for key, value := range data {
		raw, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			s.t.Fatal(err)
		}
		data[key] = string(raw)
	}
	return data, obj
}

func TestARepositoryIsWrittenAndItsSecretsGoOneWay(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	private := testenv.Git(t, testenv.GitBasicAuth("bot", planted))
	repo := private.NewRepo("hidden")
	repo.Commit(map[string]string{"a": "b"}, "first")
	const kind = agentapi.SettingRepository
	change := agentapi.SettingChange{Type: kind, Name: "hidden", Judged: &agentapi.Judged{}, Create: true, Test: true, Fields: map[string]string{"url": repo.URL(), "type": "git"}}
	signIn := map[string]string{"username": "bot", "password": planted}

	s.refused(agentapi.KindSettingsApply, s.setting(kind, "hidden"), change, agentapi.CodeInvalid) // without a password
	if _, err := s.in("", "v1", "secrets").Get(t.Context(), "hidden", metav1.GetOptions{}); err == nil {
		t.Error("a repository that cannot be reached was written")
	}
	s.seal(agentapi.KindSettingsApply, &change, map[string]string{"username": "bot", "password": planted + "-wrong"})
	s.refused(agentapi.KindSettingsApply, s.setting(kind, "hidden"), change, agentapi.CodeInvalid)
	s.seal(agentapi.KindSettingsApply, &change, signIn)
	made := must[agentapi.SettingResult](s, agentapi.KindSettingsApply, s.setting(kind, "hidden"), change)
	if made.Setting.Fields["url"] != repo.URL() || !slices.Contains(made.Setting.Secrets, "password") || made.Setting.Version == "" {
		t.Errorf("the setting is told as %+v", made)
	}
	data, obj := s.secretOf("hidden")
	if data["password"] != planted || data["username"] != "bot" || obj.GetLabels()["argocd.argoproj.io/secret-type"] != "repository" {
		t.Errorf("the Secret holds %v with labels %v", slices.Collect(maps.Keys(data)), obj.GetLabels())
	}
	s.refused(agentapi.KindSettingsApply, s.setting(kind, "hidden"), change, agentapi.CodeConflict) // it is there

	// Somebody else's field survives an edit; one that is left out stays, an empty one goes.
	if _, err := s.in("", "v1", "secrets").Patch(t.Context(), "hidden", "application/merge-patch+json",
		[]byte(`{"stringData":{"later":"kept"},"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	edit := agentapi.SettingChange{Type: kind, Name: "hidden", Judged: &agentapi.Judged{From: new(string), To: "shop"}, Update: true, Version: made.Setting.Version, Fields: map[string]string{"type": "", "project": "shop"}}
	s.refused(agentapi.KindSettingsApply, s.setting(kind, "hidden"), edit, agentapi.CodeConflict) // an old version
	edit.Version = ""
	must[agentapi.SettingResult](s, agentapi.KindSettingsApply, s.setting(kind, "hidden"), edit)
	data, obj = s.secretOf("hidden")
	if _, has := data["type"]; has || data["later"] != "kept" || data["password"] != planted || data["project"] != "shop" || obj.GetAnnotations()["a"] != "b" {
		t.Errorf("after an edit the Secret holds %v", slices.Collect(maps.Keys(data)))
	}

	ofShop := &agentapi.Judged{To: "shop"}
	tried := must[api.SettingTest](s, agentapi.KindSettingsTest, s.setting(kind, "hidden"), agentapi.SettingChange{Type: kind, Name: "hidden", Judged: ofShop})
	if !tried.OK || !strings.Contains(tried.Message, "1 branches, the default is main") {
		t.Errorf("the test says %+v", tried)
	}
	layered := must[api.SettingTest](s, agentapi.KindSettingsTest, s.setting(kind, "hidden"),
		agentapi.SettingChange{Type: kind, Name: "hidden", Judged: ofShop, Steps: true, Revision: "mian"})
	if n := len(layered.Steps); layered.OK || n == 0 || layered.Steps[n-1].Status != api.StepFailed || !strings.Contains(layered.Message, "did you mean main") {
		t.Errorf("the result for a branch that does not exist: %+v", layered)
	}
	// Whoever was judged as if nothing was there gets nothing of what is.
	var told []string
	for _, name := range []string{"hidden", "nothing"} {
		fresh := agentapi.SettingChange{Type: kind, Name: name, Create: true, Judged: &agentapi.Judged{To: "team"}, Fields: map[string]string{"url": repo.URL(), "project": "team"}}
		s.refused(agentapi.KindSettingsTest, s.setting(kind, name), fresh, agentapi.CodeInvalid)
		_, err := s.do(agentapi.KindSettingsTest, s.setting(kind, name), fresh)
		told = append(told, fmt.Sprint(err))
	}
	if told[0] != told[1] || !strings.Contains(told[0], "authentication failed") {
		t.Errorf("of what is there and may not be seen, %q is told, of nothing %q", told[0], told[1])
	}
	if _, err := s.in("", "v1", "secrets").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "mine"}, "stringData": map[string]any{"a": planted},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine", "Not A Name", "../x"} {
		_, err := s.do(agentapi.KindSettingsApply, s.setting(kind, name), agentapi.SettingChange{Type: kind, Name: name, Judged: &agentapi.Judged{}, Fields: map[string]string{"url": repo.URL()}})
		if err == nil {
			t.Errorf("a Secret %s was written", name)
		}
	}
	s.refused(agentapi.KindSettingsDelete, s.setting(kind, "mine"), agentapi.SettingChange{Type: kind, Name: "mine", Judged: &agentapi.Judged{}}, agentapi.CodeConflict)
	s.refused(agentapi.KindSettingsDelete, s.setting(kind, "hidden"), agentapi.SettingChange{Type: kind, Name: "hidden", Judged: &agentapi.Judged{To: "other"}}, agentapi.CodeConflict)
	must[any](s, agentapi.KindSettingsDelete, s.setting(kind, "hidden"), agentapi.SettingChange{Type: kind, Name: "hidden", Judged: ofShop})
	s.gone(s.in("", "v1", "secrets"), "hidden")
}

func TestATryDoesNotTellATenantWhatIsAtAnAddress(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	const marker = "Zaubernuss"
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	page := func(code int, kind string) string {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"kind":"Page","message":%[1]q,"gitVersion":%[1]q}`, marker)
		}))
		t.Cleanup(h.Close)
		return h.URL
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	places := map[string]string{
		"nobody": closed.URL, "a page": page(200, "text/plain"), "JSON": page(200, "application/json"), "not found": page(404, "text/plain"),
		"a failure": page(500, "text/plain"), "a failure in JSON": page(503, "application/json"), "TLS of nobody known": secure.URL, "a Git server without it": s.server.Base(),
	}
	for _, kind := range []struct {
		setting   agentapi.SettingType
		of, field string
	}{{agentapi.SettingRepository, "git", "url"}, {agentapi.SettingRepository, "helm", "url"}, {agentapi.SettingCluster, "", "server"}} {
		for _, project := range []string{"team", ""} {
			told := map[string]bool{}
			for name, address := range places {
				fields := map[string]string{kind.field: address, "project": project}
				if kind.of != "" {
					fields["type"] = kind.of
				}
				_, err := s.do(agentapi.KindSettingsTest, s.setting(kind.setting, "new"),
					agentapi.SettingChange{Type: kind.setting, Name: "new", Create: true, Judged: &agentapi.Judged{To: project}, Fields: fields})
				if err == nil || strings.Contains(err.Error(), marker) {
					t.Errorf("%s %s of project %q: %v", kind.of, name, project, err)
					continue
				}
				told[strings.ReplaceAll(err.Error(), address, "")] = true
			}
			if project != "" && len(told) != 1 || project == "" && len(told) < 2 {
				t.Errorf("%s %s, project %q: %d answers: %v", kind.setting, kind.of, project, len(told), slices.Collect(maps.Keys(told)))
			}
		}
	}
}

func TestAClusterIsTriedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	config := testenv.Cluster(t)
	const kind = agentapi.SettingCluster
	tls := map[string]any{"caData": config.CAData, "certData": config.CertData, "keyData": config.KeyData}
	connection, err := json.Marshal(map[string]any{"bearerToken": config.BearerToken, "tlsClientConfig": tls})
	if err != nil {
		t.Fatal(err)
	}
	change := agentapi.SettingChange{Type: kind, Name: "edge", Test: true, Fields: map[string]string{"name": "edge", "server": config.Host}}
	s.seal(agentapi.KindSettingsApply, &change, map[string]string{"config": `{"bearerToken":"` + planted + `","tlsClientConfig":{"insecure":true}}`})
	s.refused(agentapi.KindSettingsApply, s.setting(kind, "edge"), change, agentapi.CodeInvalid)
	s.seal(agentapi.KindSettingsApply, &change, map[string]string{"config": `{"execProviderConfig":{"command":"sh"}}`})
	s.refused(agentapi.KindSettingsApply, s.setting(kind, "edge"), change, agentapi.CodeInvalid)
	s.seal(agentapi.KindSettingsApply, &change, map[string]string{"config": string(connection)})
	made := must[agentapi.SettingResult](s, agentapi.KindSettingsApply, s.setting(kind, "edge"), change)
	if made.Setting.Fields["server"] != config.Host {
		t.Errorf("the cluster is told as %+v", made)
	}
	tried := must[api.SettingTest](s, agentapi.KindSettingsTest, s.setting(kind, "edge"), agentapi.SettingChange{Type: kind, Name: "edge", Judged: &agentapi.Judged{}})
	if !tried.OK || !strings.Contains(tried.Message, "Kubernetes v1.") {
		t.Errorf("the test says %+v", tried)
	}
}

// certificate makes a certificate that signs itself.
func certificate(t *testing.T) string {
	t.Helper()
	return string(testenv.NewAuthority(t).PEM())
}

func TestCertificatesHostsAndKeysAreEntriesOfConfigMaps(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.keeps.ReadBy = agentapi.EngineArgoCD // which uses keys
	put := func(kind agentapi.SettingType, name string, fields map[string]string) (agentapi.Setting, error) {
		raw, err := s.do(agentapi.KindSettingsApply, s.setting(kind, name), agentapi.SettingChange{Type: kind, Name: name, Fields: fields})
		var out agentapi.SettingResult
		if err == nil {
			err = json.Unmarshal(raw, &out)
		}
		return out.Setting, err
	}
	data := func(config string) map[string]string {
		obj, err := s.in("", "v1", "configmaps").Get(t.Context(), config, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out, _, _ := unstructured.NestedStringMap(obj.Object, "data")
		return out
	}
	if got, err := put(agentapi.SettingCertificate, "git.example.org", map[string]string{"certData": certificate(t)}); err != nil || got.Fields["certType"] != "https" {
		t.Errorf("a certificate is %+v, %v", got, err)
	}
	for name, text := range map[string]string{"none": "x", "private": certificate(t) + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := put(agentapi.SettingCertificate, name, map[string]string{"certData": text}); err == nil {
			t.Errorf("%s was taken for a certificate", name)
		}
	}
	if len(data(place.ConfigCertificate)) != 1 {
		t.Errorf("certificates are of %v", slices.Collect(maps.Keys(data(place.ConfigCertificate))))
	}

	const one, two = "git.example.org,git2.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "other.example.org ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ=="
	if _, err := put(agentapi.SettingKnownHost, "git.example.org", map[string]string{"data": "# a comment\n" + one + "\n" + two + "\n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := put(agentapi.SettingKnownHost, "bad", map[string]string{"data": "what is this"}); err == nil {
		t.Error("any text is a known host")
	}
	// They are listed with the certificates, and deleted as such.
	must[any](s, agentapi.KindSettingsDelete, s.setting(agentapi.SettingCertificate, "ssh:git2.example.org:ssh-ed25519"),
		agentapi.SettingChange{Type: agentapi.SettingCertificate, Name: "ssh:git2.example.org:ssh-ed25519"})
	if got, want := data(place.ConfigKnownHosts)["ssh_known_hosts"], strings.Replace(one, ",git2.example.org", "", 1)+"\n"+two+"\n"; got != want {
		t.Errorf("known hosts are\n%s\nwant\n%s", got, want)
	}

	for name, text := range map[string]string{"116AC4DBCC85FA767B505ADEF880E05CE294E5F0": publicKey, "": publicKey} {
		got, err := put(agentapi.SettingGPGKey, name, map[string]string{"keyData": text})
		if err != nil || got.Fields["keyID"] != "F880E05CE294E5F0" {
			t.Errorf("a key is %+v, %v", got, err)
		}
	}
	if _, err := put(agentapi.SettingGPGKey, "AAAAAAAAAAAAAAAA", map[string]string{"keyData": publicKey}); err == nil {
		t.Error("a key has the name of another one")
	}
	must[any](s, agentapi.KindSettingsDelete, s.setting(agentapi.SettingGPGKey, "F880E05CE294E5F0"), agentapi.SettingChange{Type: agentapi.SettingGPGKey, Name: "F880E05CE294E5F0"})
	if left := data(place.ConfigGPGKeys); len(left) != 0 {
		t.Errorf("after it was deleted, keys are %v", left)
	}
}

// publicKey is a key of nobody, made for this test.
const publicKey = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawIMsBYJKwYBBAHaRw8BAQdArMLc03iwZi6VLICGHFiuA2eErhYWYqF/VYA3
vmzVKQe0F3Rlc3QgPHRlc3RAZXhhbXBsZS5vcmc+iJAEExYIADgWIQQRasTbzIX6
dntQWt74gOBc4pTl8AUCawIMsAIbAwULCQgHAgYVCgkICwIEFgIDAQIeAQIXgAAK
CRD4gOBc4pTl8GlYAP9yF5pHTg3FfdYnpRbvRNSXuJYguT2SsYS6m1Wpm+VuQAD/
ZTcjifyfnsdkh+Zkom28CsQI7XmqCrVRdZI2CK7pYQs=
=Cs5u
-----END PGP PUBLIC KEY BLOCK-----
`

func TestCreatingReplacesNoEntryThatIsThere(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.keeps.ReadBy = agentapi.EngineArgoCD // which uses keys
	const (
		there = "git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
		fresh = "another.example.org ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ=="
		other = "git.example.org,third.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	)
	send := func(kind agentapi.SettingType, change agentapi.SettingChange) error {
		change.Type = kind
		_, err := s.do(agentapi.KindSettingsApply, s.setting(kind, change.Name), change)
		return err
	}
	text := func(config, field string) string {
		obj, err := s.in("", "v1", "configmaps").Get(t.Context(), config, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out, _, _ := unstructured.NestedString(obj.Object, "data", field)
		return out
	}
	hosts := func(data string, create bool) error {
		return send(agentapi.SettingKnownHost, agentapi.SettingChange{Name: "hosts", Create: create, Fields: map[string]string{"data": data}})
	}
	if err := hosts(there, true); err != nil {
		t.Fatal(err)
	}
	// The new ones come first by name: the one that is there must not pass behind them.
	for _, data := range []string{there, fresh + "\n" + other, other, fresh + "\n# a comment\n\n" + there + "\n"} {
		err := hosts(data, true)
		var known *agentapi.Error
		if !errors.As(err, &known) || known.Code != agentapi.CodeConflict || !strings.Contains(err.Error(), "ssh:git.example.org:ssh-ed25519") ||
			strings.Contains(err.Error(), "another") || !strings.Contains(err.Error(), "upsert") {
			t.Errorf("%q: %v", data, err)
		}
	}
	if got := text(place.ConfigKnownHosts, "ssh_known_hosts"); got != there+"\n" {
		t.Errorf("known hosts are now\n%s", got)
	}
	if err := hosts(fresh+"\n"+other, false); err != nil {
		t.Error(err)
	}
	if got := text(place.ConfigKnownHosts, "ssh_known_hosts"); strings.Contains(got, "OMqqnkVzrm0") || !strings.Contains(got, fresh) {
		t.Errorf("known hosts are then\n%s", got)
	}

	first, second := certificate(t), certificate(t)
	for i, data := range []string{first, second} {
		err := send(agentapi.SettingCertificate, agentapi.SettingChange{Name: "git.example.org", Create: true, Fields: map[string]string{"certData": data}})
		if (err == nil) != (i == 0) || err != nil && !strings.Contains(err.Error(), "git.example.org") {
			t.Errorf("certificate %d: %v", i, err)
		}
	}
	if text(place.ConfigCertificate, "git.example.org") != first {
		t.Error("the certificate was replaced")
	}
	for i := range 2 {
		err := send(agentapi.SettingGPGKey, agentapi.SettingChange{Create: true, Fields: map[string]string{"keyData": publicKey}})
		if (err == nil) != (i == 0) || err != nil && !strings.Contains(err.Error(), "F880E05CE294E5F0") {
			t.Errorf("key %d: %v", i, err)
		}
	}
}

func TestAFieldThatTheEngineMakesNothingOfIsRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	repository := map[string]string{"url": "https://git.example.org/shop.git"}
	cluster := map[string]string{"name": "edge", "server": "https://edge.example.org:6443"}
	for _, c := range []struct {
		kind         agentapi.SettingType
		field, value string
		base         map[string]string
	}{
		{agentapi.SettingRepoCreds, "webhookManifestCacheWarmDisabled", "true", repository},
		{agentapi.SettingCluster, "shard", "1", cluster},
	} {
		change := agentapi.SettingChange{Type: c.kind, Name: "refused", Create: true, Fields: maps.Clone(c.base), Judged: &agentapi.Judged{}}
		change.Fields = nextFields(change.Fields, c.field, c.value)
		_, err := s.do(agentapi.KindSettingsApply, s.setting(c.kind, "refused"), change)
		var refused *agentapi.Error
		if !errors.As(err, &refused) || refused.Code != agentapi.CodeUnsupported || !strings.Contains(err.Error(), c.field) {
			t.Errorf("a %s with %s: %v", c.kind, c.field, err)
		}
	}
	if _, err := s.in("", "v1", "secrets").Get(t.Context(), "refused", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Secret was written: %v", err)
	}

	// A Secret that an Argo CD left is changed as before: what is there already may stay, or go.
	const kind = agentapi.SettingCluster
	s.keeps.ReadBy = agentapi.EngineArgoCD
	left := nextFields(maps.Clone(cluster), "shard", "1")
	must[any](s, agentapi.KindSettingsApply, s.setting(kind, "left"), agentapi.SettingChange{Type: kind, Name: "left", Create: true, Fields: left, Judged: &agentapi.Judged{}})
	s.keeps.ReadBy = agentapi.EngineSlipway
	for _, fields := range []map[string]string{{"name": "edge-2", "shard": "1"}, {"clusterResources": "false"}, {"shard": ""}} {
		must[any](s, agentapi.KindSettingsApply, s.setting(kind, "left"), agentapi.SettingChange{Type: kind, Name: "left", Fields: fields, Judged: &agentapi.Judged{}})
	}
}

// nextFields is fields with one more.
func nextFields(fields map[string]string, name, value string) map[string]string {
	if fields == nil {
		fields = map[string]string{}
	}
	fields[name] = value
	return fields
}
