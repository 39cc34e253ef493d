package testenv

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// sshServer runs git-upload-pack and git-receive-pack for the holder of the one private key.
type sshServer struct {
	root      string
	listener  net.Listener
	config    *ssh.ServerConfig
	clientKey []byte
	hostKey   ssh.PublicKey
	authority ssh.PublicKey // of the certificate that the host has beside its key
	more      [][]byte      // further keys of clients
	running   sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// SSHURL is the address of the repository over SSH. The server is started on first use.
func (r *GitRepo) SSHURL() string {
	r.server.t.Helper()
	return "ssh://git@" + r.server.startSSH().listener.Addr().String() + "/" + r.name + ".git"
}

// SSHKey is the private key, PEM, that the SSH server accepts.
func (s *GitServer) SSHKey() []byte { return s.startSSH().clientKey }

// KnownHosts is the line of known_hosts for the SSH server.
func (s *GitServer) KnownHosts() []byte {
	srv := s.startSSH()
	host, port, _ := net.SplitHostPort(srv.listener.Addr().String())
	return fmt.Appendf(nil, "[%s]:%s %s", host, port, ssh.MarshalAuthorizedKey(srv.hostKey))
}

// CertAuthority is the line of known_hosts for the authority that vouches for the SSH server.
func (s *GitServer) CertAuthority() []byte {
	srv := s.startSSH()
	host, port, _ := net.SplitHostPort(srv.listener.Addr().String())
	return fmt.Appendf(nil, "@cert-authority [%s]:%s %s", host, port, ssh.MarshalAuthorizedKey(srv.authority))
}

// AddSSHKey has the SSH server accept another private key, PEM.
func (s *GitServer) AddSSHKey(key []byte) {
	s.t.Helper()
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		s.t.Fatalf("use SSH key: %v", err)
	}
	srv := s.startSSH()
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.more = append(srv.more, signer.PublicKey().Marshal())
}

// knows reports whether the key of a client is one that is accepted.
func (s *sshServer) knows(key []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.more, func(k []byte) bool { return bytes.Equal(k, key) })
}

// hostCertificate makes a host certificate for this machine, by a new authority.
func hostCertificate(t testing.TB, host ssh.Signer) (ssh.Signer, ssh.PublicKey) {
	t.Helper()
	authority, _ := newSSHKey(t)
	cert := &ssh.Certificate{
		Key: host.PublicKey(), Serial: 1, CertType: ssh.HostCert, KeyId: "host", ValidPrincipals: []string{"127.0.0.1"},
		ValidBefore: ssh.CertTimeInfinity,
	}
	if err := cert.SignCert(rand.Reader, authority); err != nil {
		t.Fatalf("sign host certificate: %v", err)
	}
	signer, err := ssh.NewCertSigner(cert, host)
	if err != nil {
		t.Fatalf("use host certificate: %v", err)
	}
	return signer, authority.PublicKey()
}

// NewSSHKey makes a private key, PEM, that no server knows.
func NewSSHKey(t testing.TB) []byte {
	t.Helper()
	_, key := newSSHKey(t)
	return key
}

func newSSHKey(t testing.TB) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatalf("make SSH key: %v", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatalf("encode SSH key: %v", err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatalf("use SSH key: %v", err)
	}
	return signer, pem.EncodeToMemory(block)
}

func (s *GitServer) startSSH() *sshServer {
	s.sshOnce.Do(func() {
		if _, err := exec.LookPath("ssh"); err != nil {
			s.t.Skip("ssh is not installed: install the OpenSSH client")
		}
		host, _ := newSSHKey(s.t)
		client, clientPEM := newSSHKey(s.t)
		want := client.PublicKey().Marshal()
		config := &ssh.ServerConfig{
			PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
				if !bytes.Equal(key.Marshal(), want) && !s.ssh.knows(key.Marshal()) {
					return nil, errors.New("unknown key")
				}
				return nil, nil
			},
		}
		config.AddHostKey(host)
		certified, authority := hostCertificate(s.t, host)
		config.AddHostKey(certified)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatalf("listen for SSH: %v", err)
		}
		s.ssh = &sshServer{
			root: s.root, listener: listener, config: config, clientKey: clientPEM, hostKey: host.PublicKey(),
			authority: authority, conns: map[net.Conn]struct{}{},
		}
		s.ssh.running.Go(s.ssh.accept)
		s.t.Cleanup(s.ssh.close)
	})
	return s.ssh
}

func (s *sshServer) close() {
	_ = s.listener.Close() // ends accept
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close() // ends its handler
	}
	s.mu.Unlock()
	s.running.Wait()
}

func (s *sshServer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = struct{}{}
		s.mu.Unlock()
		s.running.Go(func() {
			s.handle(conn)
			_ = conn.Close() // the client may have closed it
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
		})
	}
}

func (s *sshServer) handle(conn net.Conn) {
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	s.running.Go(func() { ssh.DiscardRequests(requests) })
	for nc := range channels {
		if nc.ChannelType() != "session" {
			_ = nc.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		ch, reqs, err := nc.Accept()
		if err != nil {
			return
		}
		s.running.Go(func() { s.session(ch, reqs) })
	}
}

func (s *sshServer) session(ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer func() { _ = ch.Close() }()
	protocol := ""
	for req := range reqs {
		switch req.Type {
		case "env":
			var kv struct{ Name, Value string }
			if ssh.Unmarshal(req.Payload, &kv) == nil && kv.Name == "GIT_PROTOCOL" {
				protocol = kv.Value
			}
			_ = req.Reply(true, nil)
		case "exec":
			var cmd struct{ Line string }
			_ = ssh.Unmarshal(req.Payload, &cmd)
			_ = req.Reply(true, nil)
			status := s.exec(ch, cmd.Line, protocol)
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			return
		default:
			_ = req.Reply(false, nil)
		}
	}
}

func (s *sshServer) exec(ch ssh.Channel, line, protocol string) uint32 {
	verb, arg, _ := strings.Cut(line, " ")
	name := strings.TrimPrefix(strings.Trim(arg, "'"), "/")
	if (verb != "git-upload-pack" && verb != "git-receive-pack") || !filepath.IsLocal(name) {
		fmt.Fprintln(ch.Stderr(), "command not allowed")
		return 1
	}
	c := exec.Command("git", strings.TrimPrefix(verb, "git-"), filepath.Join(s.root, name))
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_PROTOCOL=" + protocol}
	in, err := c.StdinPipe()
	if err != nil {
		return 1
	}
	c.Stdout, c.Stderr = ch, ch.Stderr()
	if err := c.Start(); err != nil {
		return 1
	}
	s.running.Go(func() {
		_, _ = io.Copy(in, ch) // ends with the channel
		_ = in.Close()
	})
	if err := c.Wait(); err != nil {
		return 128
	}
	return 0
}
