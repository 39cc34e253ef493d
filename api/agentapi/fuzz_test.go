package agentapi_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func FuzzTreeReader(f *testing.F) {
	var sent bytes.Buffer
	w, err := agentapi.NewTreeWriter(&sent)
	if err != nil {
		f.Fatal(err)
	}
	for _, event := range []string{`{"roots":[]}`, `{"text":"a\rb"}`, `null`} {
		if err := w.Write("patch", []byte(event)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(sent.Bytes())
	f.Add([]byte{0x01, 0x00, 0x00, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := agentapi.NewTreeReader(bytes.NewReader(data))
		for range 100 {
			_, event, err := r.Next()
			if err != nil {
				return
			}
			if !json.Valid(event) || bytes.ContainsAny(event, "\r\n") || len(event) > agentapi.MaxTreeEvent+64 {
				t.Fatalf("an event of %d bytes is not one line of JSON: %.200q", len(event), event)
			}
		}
	})
}

func FuzzJoiner(f *testing.F) {
	f.Add([]byte(`{"id":"a","status":"done"}`), 5, 0)
	f.Add([]byte(`{"id":"a"}{"id":"b"}`), 3, 1)
	f.Add([]byte("\xff"), 1, -1)
	f.Fuzz(func(t *testing.T, data []byte, size, first int) {
		var j agentapi.Joiner
		size = max(1, size%1000)
		for index := first; ; index++ {
			n := min(size, len(data))
			result, err := j.Add(agentapi.Part{Index: index, Last: n == len(data), Data: data[:n]})
			if err != nil {
				return
			}
			if first != 0 {
				t.Fatalf("part %d was taken as the first", first)
			}
			if data = data[n:]; len(data) == 0 {
				if result == nil {
					t.Fatal("the last part gives neither a result nor an error")
				}
				return
			}
		}
	})
}
