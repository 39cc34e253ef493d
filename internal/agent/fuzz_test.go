package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/git"
)

// Every kind of command reads its body without a fault, and refuses what it does not know.
func FuzzCommandBody(f *testing.F) {
	for _, body := range []string{`{"revision":"main","prune":true}`, `{"Revision":"a","revision":"b"}`, `null`, `{"resource":{"kind":"Secret"}}`, `{"type":"repository","fields":{"a":null}}`, `[]`, `{"unknown":1}`, `{"a":1}{}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		cmd := agentapi.Command{Kind: agentapi.KindSync, Body: body}
		for _, err := range []error{
			second(bodyOf[api.SyncRequest](cmd)), second(bodyOf[api.ResourcePatch](cmd)), second(bodyOf[query](cmd)),
			second(bodyOf[agentapi.SettingChange](cmd)), second(bodyOf[api.Logs](cmd)), second(bodyOf[api.RepositoryPathsRequest](cmd)),
		} {
			if err == nil && len(body) > 0 && !json.Valid(bytes.TrimSpace(body)) && body[0] != '{' {
				t.Errorf("%q is read as a request", body)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// What is written is the object that the command is about, without what only its cluster or another command may say.
func FuzzDeclaredObject(f *testing.F) {
	const head = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web"`
	f.Add([]byte(head + `},"spec":{}}`))
	f.Add([]byte(head + `,"Name":"other","namespace":"argocd","uid":"1"},"operation":{"sync":{}},"Operation":{},"status":{}}`))
	f.Add([]byte(head + `},"metadata":{"name":"other"}}`))
	f.Add([]byte(`{"metadata":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		obj, err := readDeclared(raw, declared{kind: "Application"}, agentapi.Target{Namespace: "argocd", Name: "web"})
		if err != nil {
			return
		}
		meta, _ := obj["metadata"].(map[string]any)
		if obj["kind"] != "Application" || meta["name"] != "web" || meta["namespace"] != "argocd" {
			t.Errorf("%s is written as %v", raw, obj)
		}
		for _, name := range []string{"operation", "status"} {
			if _, has := obj[name]; has {
				t.Errorf("%s is written with %s", raw, name)
			}
		}
	})
}

// A patch that is taken changes neither the operation nor the status, as whoever applies it reads it.
func FuzzPatchOfAnApplication(f *testing.F) {
	f.Add(false, []byte(`{"spec":{"project":"x"}}`))
	f.Add(false, []byte(`{"Operation":null,"operation":{"sync":{}}}`))
	f.Add(true, []byte(`[{"op":"replace","path":"/spec","value":{}}]`))
	f.Add(true, []byte(`[{"op":"add","path":"/operation","PATH":"/spec/x","value":{}}]`))
	f.Add(true, []byte(`[{"op":"move","from":"/status","From":"/spec","path":"/spec/x"}]`))
	f.Add(true, []byte(`[{"op":"add","path":"/spec/x","path":"/status/x","value":1}]`))
	f.Add(true, []byte(`[{"op":"add","path":"operation","value":1}]`))
	f.Add(true, []byte(`[{"op":"add","path":"x/operation","value":1}]`))
	f.Add(true, []byte(`[{"op":"remove","path":"/stat\u0075s"}]`))
	const whole = `{"metadata":{"name":"web"},"operation":{"sync":{"revision":"a"}},"spec":{"project":"p"},"status":{"sync":"x"}}`
	f.Fuzz(func(t *testing.T, steps bool, raw []byte) {
		kind := types.MergePatchType
		if steps {
			kind = types.JSONPatchType
		}
		if checkPatch(kind, raw) != nil {
			return
		}
		var out []byte
		var err error
		if steps {
			var p jsonpatch.Patch
			if p, err = jsonpatch.DecodePatch(raw); err == nil {
				out, err = p.Apply([]byte(whole))
			}
		} else {
			out, err = jsonpatch.MergePatch([]byte(whole), raw)
		}
		if err != nil {
			return
		}
		var was, is map[string]json.RawMessage
		if err := json.Unmarshal([]byte(whole), &was); err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(out, &is) != nil {
			return
		}
		for _, field := range []string{"operation", "status"} {
			if !jsonpatch.Equal(was[field], orNull(is[field])) {
				t.Errorf("%s makes %s of %s", raw, is[field], field)
			}
		}
	})
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func FuzzRepositoryAddress(f *testing.F) {
	for _, address := range []string{"https://git.example/a", "https://a:b@git.example/a", "git@h:a", "oci://u:p@h/x", "https://%61:b@h", "ssh://a:b@h/x", "-u", "https://h/\x00", "https://a:b/c@h"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if checkAddress(address) != nil || strings.HasPrefix(address, "oci://") {
			return
		}
		to, inside, err := git.ParseRemote(address, false)
		if err != nil || inside.Password != "" || strings.HasPrefix(to.URL, "file:") {
			t.Errorf("%q is taken: %v, %v", address, to, err)
		}
	})
}

func FuzzCertificateText(f *testing.F) {
	f.Add("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	f.Add("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")
	f.Add("-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----x-----BEGIN")
	f.Fuzz(func(t *testing.T, text string) {
		if err := checkCertificates(text); err == nil && (!strings.Contains(text, "CERTIFICATE") || strings.Contains(text, "PRIVATE KEY")) {
			t.Errorf("%q is taken", text)
		}
	})
}

// What an index of charts says is bounded, and is text.
func FuzzChartIndex(f *testing.F) {
	f.Add([]byte("entries:\n  web:\n  - {version: 1.0.0, description: x}\n"), "we")
	f.Add([]byte("entries: {a: [{version: ''}, null], b: null}"), "")
	f.Add([]byte("entries: {a: [{description: \""+strings.Repeat("é", 200)+"\"}]}"), "")
	f.Add([]byte("a: &a [x, *a]\nentries: {}"), "")
	f.Fuzz(func(t *testing.T, raw []byte, search string) {
		charts, _, err := chartsOf(raw, search)
		if err != nil {
			return
		}
		if len(charts) > maxCharts {
			t.Errorf("%d charts", len(charts))
		}
		for _, c := range charts {
			if len(c.Versions) > maxChartVersions || len(c.Description) > 300 || !utf8.ValidString(c.Description) {
				t.Errorf("chart %q has %d versions and the description %q", c.Name, len(c.Versions), c.Description)
			}
		}
	})
}
