package client

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func FuzzEventStream(f *testing.F) {
	f.Add([]byte("id: run-1\ndata: {\"type\":\"updated\"}\n\n: alive\n\ndata: {\n"))
	f.Add([]byte("data:{}\ndata:{}\n\nid\n\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		seen := 0
		s := stream{fn: func(api.Event) error { seen++; return nil }}
		_ = readMessages(bytes.NewReader(raw), maxEvent, func() {}, s.take) // what is no event is an error, and never a panic
		if blank := bytes.Count(raw, []byte("\n")); seen > blank {
			t.Errorf("%d events of %d lines", seen, blank)
		}
	})
}

func FuzzTreeEvent(f *testing.F) {
	f.Add("tree", []byte(`{"roots":[null]}`))
	f.Add("patch", []byte(`{"set":[{"key":null}]}`))
	f.Add("error", []byte("gone"))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		err := treeEvent(kind, data, func(e TreeEvent) error {
			if e.Tree == nil && e.Patch == nil {
				t.Error("an event has neither a tree nor a patch")
			}
			_, err := json.Marshal(e)
			return err
		})
		if kind == "error" && err == nil {
			t.Error("the error of a server is none")
		}
	})
}

func FuzzRefusal(f *testing.F) {
	f.Add(404, "application/problem+json", "", []byte(`{"code":"not_found","detail":"x","errors":[{"message":"y"}]}`))
	f.Add(503, "text/html; charset=\"", "1000000000000", []byte(`<html>`))
	f.Add(429, "application/problem+json", "-1", []byte(`{"detail":"x","references":[{}]}`))
	c, err := New(Config{Server: "https://slipway.example"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, media, after string, raw []byte) {
		status = 300 + max(status, -status)%300
		answer := &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {media}, "Retry-After": {after}}}
		again, err := c.refusal(answer, raw, call{method: http.MethodGet, path: "/api/v1/x"})
		if err == nil || strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%d is no error: %v", status, err)
		}
		if again > longestWait {
			t.Errorf("it waits for %v", again)
		}
	})
}

func FuzzServerAddress(f *testing.F) {
	for _, text := range []string{"slipway.example", "https://a:b@host", "http://[::1]:80/", "//x", "https://host/%2e", "https://HOST:0443"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseServer(text)
		if err != nil {
			return
		}
		again, err := ParseServer(u.String())
		if err != nil || again.String() != u.String() || u.User != nil || u.Path != "" {
			t.Errorf("%q was read as %q, and that as %v (%v)", text, u, again, err)
		}
	})
}
