package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
	agentlink "github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// logs writes lines: so many bytes, or for ever.
func logs(bytesIn int, ended chan<- error) agentlink.Streamer {
	return func(_ context.Context, cmd agentapi.Command, st *agentlink.Stream) error {
		var in agentapi.Logs
		if err := json.Unmarshal(cmd.Body, &in); err != nil {
			return err
		}
		line := bytes.Repeat([]byte("x"), 1000)
		for n := 0; in.Follow || n < bytesIn; n += len(line) {
			if _, err := st.Write(line); err != nil {
				ended <- err
				return err
			}
		}
		return nil
	}
}

// shout says in capitals what it hears, until it hears exit.
func shout(ctx context.Context, _ agentapi.Command, st *agentlink.Stream) error {
	for {
		in, err := st.Recv(ctx)
		if err != nil {
			return nil //nolint:nilerr // the other side has ended
		}
		if string(in.Data) == "exit" {
			st.Exit(3)
			return nil
		}
		if _, err := st.Write(bytes.ToUpper(in.Data)); err != nil {
			return err
		}
	}
}

// open opens a stream to the agent of app-0.
func open(ctx context.Context, t *testing.T, s *server, uid string, kind agentapi.Kind, body any) *gateway.Stream {
	t.Helper()
	cmd := command(kind)
	cmd.Body, _ = json.Marshal(body)
	st, err := s.gateway.Commands.Open(ctx, uid, cmd)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestAStreamCarriesMoreThanItsCreditAndEndsWithItsReader(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	const size = 3 << 20
	ended := make(chan error, 1)
	startAgent(t, s.http.URL, token, c, func(cfg *agentlink.Config) {
		cfg.Policy = func() map[string]string { return map[string]string{"deny": ""} }
		cfg.Streamers = map[agentapi.Kind]agentlink.Streamer{
			agentapi.KindResourceLogs: logs(size, ended), agentapi.KindResourceTerminal: shout,
		}
	})
	s.store.until(t, "the first state", s.settled(uid, c))
	s.store.until(t, "the agent to be connected", s.connected(uid))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()

	all := open(ctx, t, s, uid, agentapi.KindResourceLogs, agentapi.Logs{})
	got := 0
	for {
		chunk, err := all.Recv(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || chunk.Error != nil {
			t.Fatalf("after %d bytes: %v, %v", got, err, chunk.Error)
		}
		got += len(chunk.Data)
	}
	if got < size {
		t.Errorf("%d of %d bytes came", got, size)
	}

	follow := open(ctx, t, s, uid, agentapi.KindResourceLogs, agentapi.Logs{Follow: true})
	if _, err := follow.Recv(ctx); err != nil {
		t.Fatal(err)
	}
	if err := follow.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("whoever writes for nobody is not told")
	}

	terminal := open(ctx, t, s, uid, agentapi.KindResourceTerminal, agentapi.Terminal{})
	for _, word := range []string{"a", "exit"} {
		if err := terminal.Send(ctx, agentapi.Chunk{Data: []byte(word)}); err != nil {
			t.Fatal(err)
		}
	}
	var text string
	for {
		chunk, err := terminal.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text += string(chunk.Data)
		if chunk.End {
			if chunk.Exit == nil || *chunk.Exit != 3 || text != "A" {
				t.Errorf("got %q and %+v", text, chunk)
			}
			return
		}
	}
}
