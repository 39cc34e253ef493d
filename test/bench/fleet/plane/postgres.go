package plane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Postgres is a PostgreSQL server of its own, for a benchmark, with durable commits as in production.
type Postgres struct {
	// URL is of an empty database.
	URL string

	process *process
	dir     string
}

// StartPostgres makes a database below dir and starts its server. It needs initdb and postgres on the path or where Debian
// puts them.
func StartPostgres(ctx context.Context) (*Postgres, error) {
	programs, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-postgres-")
	if err != nil {
		return nil, fmt.Errorf("make directory of PostgreSQL: %w", err)
	}
	p := &Postgres{dir: dir}
	cred, err := unprivileged(dir)
	if err != nil {
		p.Close()
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "--pgdata", data, "--username", "slipway", "--auth",
		"trust", "--encoding", "UTF8")
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: cred}
	if out, err := initdb.CombinedOutput(); err != nil {
		p.Close()
		return nil, fmt.Errorf("run initdb: %w; its output was:\n%s", err, out)
	}
	address, err := freeAddress()
	if err != nil {
		p.Close()
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("read address %s: %w", address, err)
	}
	p.URL = "postgres://slipway@" + address + "/postgres?sslmode=disable"
	p.process = &process{log: filepath.Join(dir, "log"), cred: cred, argv: []string{
		filepath.Join(programs, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
	}}
	if err := p.process.start(); err != nil {
		p.Close()
		return nil, err
	}
	if err := await(ctx, p.process, p.ready); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Postgres) ready(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.URL)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// Close ends the server and removes what it kept.
func (p *Postgres) Close() {
	if p.process != nil {
		p.process.end(syscall.SIGINT)
	}
	_ = os.RemoveAll(p.dir) // a directory of its own below that for temporary files
}

// programs returns the directory of initdb and postgres.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(target), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("no initdb on the path or in /usr/lib/postgresql/*/bin: " +
			"install the Debian package postgresql, or give --database URL")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// unprivileged returns another user to run as and gives them dir, where this process is root: PostgreSQL refuses to run as that.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // no other user
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("find a user for PostgreSQL: %w", err)
		}
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read user %s: %w", who.Username, err)
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read user %s: %w", who.Username, err)
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, fmt.Errorf("give PostgreSQL its directory: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
