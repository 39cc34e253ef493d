package testenv

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Says answers every connection with a text as soon as something is read from it, and ends it. It returns host and port. What the
// text is, a status line or not, is up to the test.
func Says(t testing.TB, text string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); work.Wait() })
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
				if _, err := conn.Read(make([]byte, 1)); err != nil {
					return
				}
				_, _ = io.WriteString(conn, text) // a reader that is gone misses nothing
				if tcp, is := conn.(*net.TCPConn); is {
					_ = tcp.CloseWrite() // a reset would take away what was written
				}
				_, _ = io.Copy(io.Discard, conn)
			})
		}
	})
	return l.Addr().String()
}
