package testenv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// PostgresServer is a PostgreSQL server of one test, which stops, kills and
// starts it. It keeps its address. What it has committed outlives its processes.
type PostgresServer struct {
	t          testing.TB
	programs   string
	dir        string
	credential *syscall.Credential
	server     postgres

	hold  *os.File      // ends the server when it is closed
	ended chan struct{} // closes with the server
}

// PrivatePostgres starts a server, which ends with the test, under the
// conditions of Postgres.
func PrivatePostgres(t testing.TB) *PostgresServer {
	t.Helper()
	programs, err := findPostgres()
	if errors.Is(err, errNoPostgres) && os.Getenv("SLIPWAY_REQUIRE_POSTGRES") != "1" {
		t.Skipf("this test needs PostgreSQL: %v", err)
	}
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	p := &PostgresServer{t: t, programs: programs}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	if p.dir, p.credential, err = initPostgres(ctx, programs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(p.dir) })
	if p.server.port, p.server.held, err = reservePort(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.server.held.Close() })
	t.Cleanup(p.Kill)
	p.Start()
	return p
}

// URL is the address of a database that is empty at first.
func (p *PostgresServer) URL() string { return p.server.url("postgres") }

// Start starts the server and waits until it answers. After a kill it waits for
// what is left of the processes before.
func (p *PostgresServer) Start() {
	p.t.Helper()
	// The server is ended with the process of the test, too.
	const script = `exec 3<&0; dir=$1; shift
"$@" >>"$dir/log" 2>&1 &
server=$!
(read -r _ <&3; kill -KILL $server 2>/dev/null) &
wait $server`
	ctx, cancel := context.WithTimeout(p.t.Context(), startLimit)
	defer cancel()
	for {
		shell, hold, err := postgresShell(script, p.dir, p.programs, p.server.port, p.credential)
		if err != nil {
			p.t.Fatal(err)
		}
		running, over := context.WithCancel(ctx)
		p.hold, p.ended = hold, make(chan struct{})
		go func(ended chan struct{}) {
			_ = shell.Wait()
			close(ended)
			over()
		}(p.ended)
		if err = p.server.await(running, p.dir); err == nil {
			return
		}
		_ = hold.Close()
		<-p.ended
		if ctx.Err() != nil {
			p.t.Fatalf("start PostgreSQL: %v", err)
		}
		// It ended on its own: what was killed had not ended yet.
	}
}

// Stop ends the server in order, with whatever is connected to it.
func (p *PostgresServer) Stop() { p.end(syscall.SIGINT) }

// Kill ends the server's first process without a warning. The others detect that on their own.
func (p *PostgresServer) Kill() { p.end(syscall.SIGKILL) }

func (p *PostgresServer) end(how syscall.Signal) {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.dir, "data", "postmaster.pid"))
	if err == nil {
		first, _, _ := strings.Cut(string(raw), "\n")
		pid, err := strconv.Atoi(first)
		if err != nil {
			p.t.Fatalf("find PostgreSQL: %v", err)
		}
		select {
		case <-p.ended: // the file is left from one that was killed
		default:
			_ = syscall.Kill(pid, how) // it may have ended already
		}
	}
	select {
	case <-p.ended:
	case <-time.After(endLimit):
		p.t.Errorf("PostgreSQL did not end within %s of %s", endLimit, how)
	}
	_ = p.hold.Close()
}
