package command

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// Every kind of command reads its body without a fault, and refuses what it does not know.
func FuzzCommandBody(f *testing.F) {
	for _, body := range []string{`{"revision":"main","prune":true}`, `{"Revision":"a","revision":"b"}`, `null`, `{"resource":{"kind":"Secret"}}`, `{"type":"repository","fields":{"a":null}}`, `[]`, `{"unknown":1}`, `{"a":1}{}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		cmd := agentapi.Command{Kind: agentapi.KindSync, Body: body}
		for _, err := range []error{
			second(Body[api.SyncRequest](cmd)), second(Body[api.ResourcePatch](cmd)), second(Body[api.ResourceDelete](cmd)),
			second(Body[agentapi.SettingChange](cmd)), second(Body[api.Logs](cmd)), second(Body[api.RepositoryPathsRequest](cmd)),
		} {
			if err == nil && len(body) > 0 && !json.Valid(bytes.TrimSpace(body)) && body[0] != '{' {
				t.Errorf("%q is read as a request", body)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
