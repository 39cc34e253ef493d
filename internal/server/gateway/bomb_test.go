package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// zipped is a text of zeros, compressed by gzip: a thousandth of its size.
func zipped(t *testing.T, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	zeros := make([]byte, 1<<20)
	for n := 0; n < size; n += len(zeros) {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// peak measures how much memory grows until stop is called, in MiB.
func peak() (stop func() int64) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	before := heap()
	var most atomic.Int64
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				most.Store(max(most.Load(), heap()))
			}
		}
	}()
	return func() int64 { close(over); <-done; return (max(most.Load(), heap()) - before) >> 20 }
}

// noLedger takes records and keeps none.
type noLedger struct{ gateway.Ledger }

func TestMessagesThatUnpackWithoutEndAreRefusedAndOthersAreServed(t *testing.T) { // not parallel: it measures memory
	s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) { c.Ledger = noLedger{} })
	i := s.register("account.hostile", "cluster")
	a := s.join(i)
	other := s.join(s.register("account.other", "other"))
	bomb := zipped(t, 400<<20)
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	record := encoder.EncodeAll(make([]byte, 64<<20), nil)
	deep := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	grown := peak()
	for _, verb := range []string{agentapi.UpHello(i.uid), agentapi.UpState(i.uid), agentapi.UpHeartbeat(i.uid), agentapi.UpResult(i.uid), agentapi.UpRecord(i.uid), agentapi.UpRotate(i.uid)} {
		for what, data := range map[string][]byte{
			"compressed": bomb, "a field twice": []byte(fmt.Sprintf(`{"epoch":%d,"epoch":%d}`, a.epoch, a.epoch)), "deep": []byte(deep),
			"wide": []byte("[" + strings.Repeat("{},", 5000) + "{}]"),
		} {
			var said struct{ Error *agentapi.Error }
			a.askRaw(verb, data, &said)
			if said.Error == nil {
				t.Errorf("%s, %s: it is taken", verb, what)
			}
		}
		if ack := other.beat(agentapi.Heartbeat{}); ack.Error != nil {
			t.Fatal(ack.Error)
		}
	}
	var records agentapi.Records
	records.Epoch = a.epoch
	for n := range min(agentapi.MaxRecords, agentapi.MaxMessage/(4*len(record))) { // as many as a message takes
		records.Records = append(records.Records, agentapi.Record{ID: fmt.Sprintf("%x", n), Body: record})
		records.Contents = append(records.Contents, agentapi.Content{Hash: fmt.Sprintf("%x", n), Body: record})
	}
	a.publish(agentapi.UpRecord(i.uid), records)
	for range 20 {
		if ack := other.beat(agentapi.Heartbeat{}); ack.Error != nil {
			t.Fatal(ack.Error)
		}
	}
	var said agentapi.RecordAck // in the same lane: what came before is done
	a.ask(agentapi.UpRecord(i.uid), agentapi.Records{Epoch: -1}, &said)
	if mib := grown(); mib > 256 {
		t.Errorf("the memory grew by %d MiB", mib)
	} else {
		t.Logf("the memory grew by %d MiB", mib)
	}
}

func TestACompressedFrameOfAWebSocketIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.hostile", "cluster")
	other := s.join(s.register("account.other", "other"))
	r := s.raw(http.Header{})
	if strings.Contains(r.extensions, "permessage-deflate") {
		t.Errorf("the server agrees to %s", r.extensions)
	}
	r.connect(i)
	// A masked binary frame of 5 bytes that says to be compressed.
	if _, err := r.conn.NetConn().Write([]byte{0xc0 | websocket.BinaryMessage, 0x80 | 5, 0, 0, 0, 0, 1, 2, 3, 4, 5}); err != nil {
		t.Fatal(err)
	}
	r.untilClosed()
	if ack := other.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
}

func TestARegistrationThatIsCompressedIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	body := zipped(t, 400<<20)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http.URL+agentapi.PathRegister, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Encoding", "gzip")
	answer, err := s.http.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest && answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%s", answer.Status)
	}
}

func TestAResultCountsOnceWhateverComesAfterIt(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	a := s.join(i)
	for _, first := range []agentapi.Status{agentapi.StatusDone, agentapi.StatusFailed, agentapi.StatusExpired} {
		id := "first-" + string(first)
		c := sync1(id)
		c.Deadline = time.Now().Add(time.Hour)
		if err := s.store.AddCommand(t.Context(), gateway.Command{Command: withAgent(c, a.uid)}); err != nil {
			t.Fatal(err)
		}
		for n, status := range []agentapi.Status{first, agentapi.StatusDone, agentapi.StatusFailed, agentapi.StatusRefused, first} {
			if ack := a.report(agentapi.Result{ID: id, Status: status, Message: fmt.Sprint("report ", n)}); ack.Error != nil {
				t.Errorf("%s: %v", id, ack.Error) // it is acknowledged, so that it is not sent for ever
			}
		}
		kept, err := s.store.GetCommand(t.Context(), id)
		if err != nil || kept.Result.Status != first || kept.Result.Message != "report 0" {
			t.Errorf("%s ended as %+v, %v", id, kept.Result, err)
		}
	}
}

func withAgent(c agentapi.Command, uid string) agentapi.Command {
	c.Agent = uid
	return c
}
