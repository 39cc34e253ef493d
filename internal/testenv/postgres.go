package testenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"
)

// postgresTries is how often a start is tried: another process may take the
// free port before the server does.
const postgresTries = 3

// errNoPostgres says that the programs of PostgreSQL are not installed.
var errNoPostgres = errors.New("no initdb and postgres on the path or in /usr/lib/postgresql/*/bin: install the Debian package postgresql")

// Postgres returns the URL of a new, empty database on a real PostgreSQL server
// that all tests of a process share. The end of the test drops the database,
// the end of the process stops the server. The programs come from the path or
// from /usr/lib/postgresql; where they are absent the test is skipped, or fails
// under SLIPWAY_REQUIRE_POSTGRES=1.
func Postgres(t testing.TB) string {
	t.Helper()
	server, err := sharedPostgres()
	if errors.Is(err, errNoPostgres) && os.Getenv("SLIPWAY_REQUIRE_POSTGRES") != "1" {
		t.Skipf("this test needs PostgreSQL: %v", err)
	}
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	name := fmt.Sprintf("test_%d", server.databases.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), requestLimit)
	defer cancel()
	if err := server.do(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("create database: %v", err)
	}
	t.Cleanup(func() {
		// The context of the test is over by now.
		ctx, cancel := context.WithTimeout(context.Background(), requestLimit)
		defer cancel()
		if err := server.do(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Logf("drop database %s: %v", name, err)
		}
	})
	return server.url(name)
}

// postgres is a server that runs.
type postgres struct {
	port      int
	held      *os.File     // keeps the port from others, up to the end of this process
	databases atomic.Int64 // how many were made
}

// sharedPostgres starts the server of this process, at the first call.
var sharedPostgres = sync.OnceValues(func() (*postgres, error) { //nolint:gochecknoglobals // belongs to the process as a whole
	programs, err := findPostgres()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	for range postgresTries {
		var server *postgres
		if server, err = startPostgres(ctx, programs); err == nil {
			return server, nil
		}
	}
	return nil, err
})

// postgresHold is the pipe whose end makes the server's shell stop it. It is
// never closed: the end of the process, however it comes, gives it up.
var postgresHold *os.File //nolint:gochecknoglobals,unused // see above

// findPostgres returns the directory of initdb and postgres.
func findPostgres() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		// Debian's own directory has both; a link on the path leads there.
		if target, err := filepath.EvalSymlinks(path); err == nil && isFile(filepath.Join(filepath.Dir(target), "postgres")) {
			return filepath.Dir(target), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errNoPostgres
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	if !isFile(filepath.Join(filepath.Dir(newest), "postgres")) {
		return "", errNoPostgres
	}
	return filepath.Dir(newest), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// startPostgres makes a data directory, starts a server on a free port of
// loopback and waits until it answers. A shell stands between: it stops the
// server and removes the directory when its input ends.
func startPostgres(ctx context.Context, programs string) (*postgres, error) {
	dir, credential, err := initPostgres(ctx, programs)
	if err != nil {
		return nil, err
	}
	port, held, err := reservePort()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	const script = `dir=$1; shift
"$@" >"$dir/log" 2>&1 &
read -r _
kill -INT $!
wait
cd / && rm -rf "$dir"`
	shell, hold, err := postgresShell(script, dir, programs, port, credential, "-c", "synchronous_commit=off")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	server := &postgres{port: port, held: held}
	if err := server.await(ctx, dir); err != nil {
		_ = hold.Close()
		return nil, errors.Join(err, shell.Wait())
	}
	postgresHold = hold
	return server, shell.Process.Release()
}

// initPostgres makes a data directory, and returns the user that the server runs as; nil
// for the user of the test.
func initPostgres(ctx context.Context, programs string) (dir string, credential *syscall.Credential, err error) {
	if dir, err = os.MkdirTemp("", "slipway-postgres-"); err != nil {
		return "", nil, fmt.Errorf("make directory for PostgreSQL: %w", err)
	}
	if credential, err = postgresUser(dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	initialise := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "--pgdata", filepath.Join(dir, "data"),
		"--username", "slipway", "--auth", "trust", "--encoding", "UTF8", "--no-sync")
	initialise.Dir, initialise.SysProcAttr = dir, &syscall.SysProcAttr{Credential: credential, Setsid: true}
	if output, err := initialise.CombinedOutput(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("run initdb: %w; its output was:\n%s", err, output), os.RemoveAll(dir))
	}
	return dir, credential, nil
}

// postgresShell starts a shell that runs a script with the directory and the
// server's command line. The script reads a pipe that lasts as long as hold.
func postgresShell(script, dir, programs string, port int, credential *syscall.Credential,
	more ...string,
) (shell *exec.Cmd, hold *os.File, err error) {
	input, hold, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	defer func() { _ = input.Close() }()
	// Data of a test need not survive a power cut: no fsync.
	shell = exec.Command("/bin/sh", append([]string{
		"-c", script, "sh", dir, filepath.Join(programs, "postgres"), "-D", filepath.Join(dir, "data"),
		"-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", "", "-c", "fsync=off", "-c", "full_page_writes=off",
		"-c", "max_connections=200", "-c", "shared_buffers=32MB",
	}, more...)...)
	shell.Dir, shell.Stdin, shell.SysProcAttr = dir, input, &syscall.SysProcAttr{Credential: credential, Setsid: true}
	if err := shell.Start(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start PostgreSQL: %w", err), hold.Close())
	}
	return shell, hold, nil
}

// postgresUser returns whom the server runs as, and gives dir to him: it
// refuses to be root.
func postgresUser(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil // no other user
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("find a user for PostgreSQL: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read id of user %s: %w", account.Username, err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read group of user %s: %w", account.Username, err)
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, fmt.Errorf("give directory to PostgreSQL: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// await waits until the server answers. One that could not start leaves no
// process id behind; a stranger on the port has not our directory.
func (p *postgres) await(ctx context.Context, dir string) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, probeEvery, true, func(ctx context.Context) (bool, error) {
		if log := tail(filepath.Join(dir, "log")); strings.Contains(log, "FATAL:  could not create any TCP/IP sockets") {
			return false, errors.New("its port was taken")
		}
		last = p.do(ctx, "SELECT 1")
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for PostgreSQL: %w; its output was:\n%s", errors.Join(err, last), tail(filepath.Join(dir, "log")))
	}
	return nil
}

// do runs one statement as an administrator.
func (p *postgres) do(ctx context.Context, statement string) error {
	connection, err := pgx.Connect(ctx, p.url("postgres"))
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, statement)
	return errors.Join(err, connection.Close(context.WithoutCancel(ctx)))
}

// url returns the address of a database.
func (p *postgres) url(database string) string {
	address := url.URL{
		Scheme: "postgres", User: url.User("slipway"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)),
		Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return address.String()
}
