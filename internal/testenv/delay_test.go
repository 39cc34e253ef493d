package testenv

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// echo answers each client with what it said, once it has said all.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			said, _ := io.ReadAll(conn)
			_, _ = conn.Write(said)
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

func TestWhatIsDelayedArrivesWhole(t *testing.T) {
	t.Setenv(DelayEnv, "10ms")
	behind := echo(t)
	address := Delayed(t, behind)
	if address == behind {
		t.Fatal("there is no delay")
	}
	for _, size := range []int{0, 1, 3 * chunk} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = conn.Write(make([]byte, size))
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		got, err := io.ReadAll(conn)
		if err != nil || len(got) != size {
			t.Errorf("of %d bytes %d came back: %v", size, len(got), err)
		}
		_ = conn.Close()
	}
}

func TestAClientSeesThatNobodyIsBehindADelay(t *testing.T) {
	t.Setenv(DelayEnv, "10ms")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", Delayed(t, Address(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(requestLimit)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("reading ends with %v", err)
	}
}

func TestNothingIsDelayedWhereNobodyAsks(t *testing.T) {
	t.Setenv(DelayEnv, "")
	if got := Delayed(t, "127.0.0.1:1"); got != "127.0.0.1:1" {
		t.Errorf("the address is %s", got)
	}
}
