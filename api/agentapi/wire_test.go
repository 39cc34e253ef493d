package agentapi_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// message is one that must be written as want, and be read from it.
type message struct {
	name    string
	message any
	want    string
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func TestEveryMessageOfASessionHasThisJSON(t *testing.T) {
	t.Parallel()
	at := noon()
	key := agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "shop"}
	checkWire(t, []message{
		{"registration", agentapi.Registration{
			Token: "t", PublicKey: "U", SealKey: []byte{1, 2}, ClusterUID: "c", Namespace: "argocd", Version: "1.0.0", Signature: []byte{3},
		}, `{"token":"t","publicKey":"U","sealKey":"AQI=","clusterUID":"c","namespace":"argocd","version":"1.0.0","signature":"Aw=="}`},
		{
			"registered",
			agentapi.Registered{Agent: "account.prod", UID: "u", Heartbeat: 10, ServerKey: []byte{1}},
			`{"agent":"account.prod","uid":"u","heartbeat":10,"serverKey":"AQ=="}`,
		},
		{"hello", agentapi.Hello{
			Protocol: 1, ClusterUID: "c", Namespace: "argocd", Instance: "i", Digest: 0xab, Items: 2,
			Versions: agentapi.Versions{Agent: "1.0.0", Kubernetes: "1.36"},
		}, `{"protocol":1,"clusterUID":"c","namespace":"argocd","instance":"i","digest":"00000000000000ab","items":2,` +
			`"versions":{"agent":"1.0.0","kubernetes":"1.36"}}`},
		{
			"welcome",
			agentapi.Welcome{Epoch: 7, Heartbeat: 10, Inventory: true, Time: at, Version: "1.0.0"},
			`{"epoch":7,"heartbeat":10,"inventory":true,"time":"2026-03-01T12:00:00Z","version":"1.0.0"}`,
		},
		{
			"welcome to a twin",
			agentapi.Welcome{Error: &agentapi.Error{Code: agentapi.CodeTwin, Message: "m", RetryAfter: 60}},
			`{"error":{"code":"twin","message":"m","retryAfter":60}}`,
		},
		{"heartbeat", agentapi.Heartbeat{
			Epoch: 7, Digest: 1, Items: 2, Pending: 3, Lag: 40,
			Components: []agentapi.Component{{Name: "engine", Status: agentapi.ComponentHealthy}},
			Versions:   agentapi.Versions{Agent: "1.0.0"}, Running: []string{"a"},
		}, `{"epoch":7,"digest":"0000000000000001","items":2,"pending":3,"lag":40,` +
			`"components":[{"name":"engine","status":"Healthy"}],"versions":{"agent":"1.0.0"},"running":["a"]}`},
		{"heartbeat's answer", agentapi.HeartbeatAck{Inventory: true}, `{"inventory":true}`},
		{"batch", agentapi.Batch{
			Epoch: 7, Seq: 1,
			Items: []agentapi.Item{{Key: key, Hash: "0f", Body: json.RawMessage(`{"spec":{}}`)}, {Key: key, Deleted: true}},
			Inventory: &agentapi.Inventory{
				Part: 0, Last: true, Entries: []agentapi.Entry{{Key: key, Hash: "0f"}},
			},
			Events: []agentapi.Event{{
				ID: "e", At: at, Type: agentapi.EventSyncStarted, Target: key, Project: "default", Automatic: true, Revision: "abc",
			}},
		}, `{"epoch":7,"seq":1,"items":[{"kind":"application","namespace":"argocd","name":"shop","hash":"0f","body":{"spec":{}}},` +
			`{"kind":"application","namespace":"argocd","name":"shop","deleted":true}],` +
			`"inventory":{"part":0,"last":true,"entries":[{"kind":"application","namespace":"argocd","name":"shop","hash":"0f"}]},` +
			`"events":[{"id":"e","at":"2026-03-01T12:00:00Z","type":"sync.started","target":` +
			`{"kind":"application","namespace":"argocd","name":"shop"},"project":"default","automatic":true,"revision":"abc"}]}`},
		{
			"ack",
			agentapi.Ack{Seq: 1, Missing: []agentapi.Key{key}, Stale: 2, Rejected: []agentapi.Rejected{{Key: key, Message: "m"}}},
			`{"seq":1,"missing":[{"kind":"application","namespace":"argocd","name":"shop"}],"stale":2,` +
				`"rejected":[{"kind":"application","namespace":"argocd","name":"shop","message":"m"}]}`,
		},
		{"setting", agentapi.Setting{
			Fields: map[string]string{"url": "u"}, Secrets: []string{"password"},
			Connection: &agentapi.Connection{Status: "Successful", At: at}, Version: "12",
		}, `{"fields":{"url":"u"},"secrets":["password"],"connection":{"status":"Successful","at":"2026-03-01T12:00:00Z"},"version":"12"}`},
	})
}

func TestEveryMessageOfACommandHasThisJSON(t *testing.T) {
	t.Parallel()
	at, exit := noon(), 3
	checkWire(t, []message{
		{"command", agentapi.Command{
			ID: "x", Agent: "u", Epoch: 7, Kind: agentapi.KindSync,
			Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "shop"},
			Body:   json.RawMessage(`{}`), User: "user:anna", Groups: []string{"ops"}, Reason: "r", Issued: at, Deadline: at, Origin: "o",
		}, `{"id":"x","agent":"u","epoch":7,"kind":"application.sync",` +
			`"target":{"kind":"application","namespace":"argocd","name":"shop"},"body":{},"user":"user:anna","groups":["ops"],` +
			`"reason":"r","issued":"2026-03-01T12:00:00Z","deadline":"2026-03-01T12:00:00Z","origin":"o"}`},
		{"result", agentapi.ResultReport{Epoch: 7, Result: agentapi.Result{
			ID: "x", Status: agentapi.StatusFailed, Code: agentapi.CodeConflict, Message: "m", Body: json.RawMessage(`1`), Finished: at,
		}}, `{"epoch":7,"result":{"id":"x","status":"failed","code":"conflict","message":"m","body":1,"finished":"2026-03-01T12:00:00Z"}}`},
		{"part", agentapi.Part{Epoch: 7, Index: 1, Last: true, Data: []byte("{}")}, `{"epoch":7,"index":1,"last":true,"data":"e30="}`},
		{"chunk", agentapi.Chunk{
			Stream: "s", Seq: 2, Data: []byte("x"), Resize: &agentapi.Size{Columns: 80, Rows: 24}, Credit: 5, End: true, Exit: &exit,
			Error: &agentapi.Error{Code: agentapi.CodeNotFound, Message: "m"},
		}, `{"stream":"s","seq":2,"data":"eA==","resize":{"columns":80,"rows":24},"credit":5,"end":true,"exit":3,` +
			`"error":{"code":"not-found","message":"m"}}`},
		{
			"rotation",
			agentapi.Rotation{Epoch: 7, PublicKey: "U", Signature: []byte{1}, Proof: []byte{2}},
			`{"epoch":7,"publicKey":"U","signature":"AQ==","proof":"Ag=="}`,
		},
		{"signed", agentapi.Signed{Payload: []byte("{}"), Signature: []byte{1}}, `{"payload":"e30=","signature":"AQ=="}`},
	})
}

func checkWire(t *testing.T, tests []message) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.message)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
			back := reflect.New(reflect.TypeOf(test.message))
			if err := json.Unmarshal([]byte(test.want), back.Interface()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.message, back.Elem().Interface()); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSubjectsAreThese(t *testing.T) {
	t.Parallel()
	const uid = "abcdefghijklmnopqrstuvwxyz"
	got := []string{
		agentapi.UpAll(uid), agentapi.DownAll(uid), agentapi.UpHello(uid), agentapi.UpState(uid), agentapi.UpHeartbeat(uid),
		agentapi.UpResult(uid), agentapi.UpRotate(uid), agentapi.UpReply(uid, "c"), agentapi.UpStream(uid, "s"),
		agentapi.DownCommand(uid), agentapi.DownStreams(uid), agentapi.DownStream(uid, "s"), agentapi.InboxPrefix(uid),
	}
	var want []string
	for _, rest := range []string{
		"up.>", "down.>", "up.hello", "up.state", "up.heartbeat", "up.result", "up.rotate", "up.reply.c", "up.stream.s",
		"down.command", "down.stream.*", "down.stream.s", "down.inbox",
	} {
		want = append(want, "slipway."+uid+"."+rest)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoTokenOfASubjectIsNoID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "a.b", "*", ">", "a b", "a\n", "ä", string(make([]byte, 65))} {
		if agentapi.ValidID(id) || agentapi.ValidUID(id) {
			t.Errorf("%q counts as an id", id)
		}
	}
	if !agentapi.ValidID("aZ0-_") {
		t.Error("aZ0-_ does not count as an id")
	}
	for uid, want := range map[string]bool{"abcdefghijklmnopqrstuvwx27": true, "abcdefghijklmnopqrstuvwx89": false, "abc": false} {
		if agentapi.ValidUID(uid) != want {
			t.Errorf("%q counts as a uid: %v", uid, !want)
		}
	}
}
