package plane

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// etcdQuota is the size in bytes at which etcd refuses to grow.
const etcdQuota = 8 << 30

// Etcd is an embedded etcd server with one member that can only be reached
// through a Unix socket.
type Etcd struct {
	server   *embed.Etcd
	endpoint string
}

// EtcdConfig says where an etcd server keeps its data and can be reached.
type EtcdConfig struct {
	// Dir holds the data, with access for its owner only.
	Dir string
	// ClientSocket and PeerSocket are paths of Unix sockets to make.
	ClientSocket, PeerSocket string
	// Log takes what etcd has to say.
	Log *zap.Logger
}

// StartEtcd starts the server and returns when it answers. It writes without
// fsync: what it wrote outlives the process, even one that was killed, but not
// a crash of the machine. That is right for development and nothing else.
func StartEtcd(ctx context.Context, config EtcdConfig) (*Etcd, error) {
	cfg := embed.NewConfig()
	cfg.Name = "devcluster"
	cfg.Dir = config.Dir
	cfg.UnsafeNoFsync = true
	cfg.EnableGRPCGateway = false
	cfg.QuotaBackendBytes = etcdQuota
	// Without it every request counts as slow and is logged.
	cfg.WarningUnaryRequestDuration, cfg.ExperimentalWarningUnaryRequestDuration = time.Second, time.Second
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(config.Log)
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Path: config.ClientSocket}}
	// For peers etcd looks at the host alone, even where it is a path.
	cfg.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: config.PeerSocket}}
	// etcd insists on a host and port here; with one member, they are not dialled.
	nobody := []url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}
	cfg.AdvertiseClientUrls, cfg.AdvertisePeerUrls = nobody, nobody
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)

	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	e := &Etcd{server: server, endpoint: "unix://" + config.ClientSocket}
	select {
	case <-server.Server.ReadyNotify():
		return e, nil
	case err := <-server.Err():
		server.Close()
		return nil, fmt.Errorf("start etcd: %w", err)
	case <-server.Server.StopNotify():
		server.Close()
		return nil, errors.New("start etcd: it stopped: see its log")
	case <-ctx.Done():
		server.Close()
		return nil, fmt.Errorf("start etcd: %w", context.Cause(ctx))
	}
}

// Endpoint returns the address for clients.
func (e *Etcd) Endpoint() string { return e.endpoint }

// Wait returns nil once ctx is done, or an error as soon as the server fails.
func (e *Etcd) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.server.Err():
		return fmt.Errorf("run etcd: %w", err)
	case <-e.server.Server.StopNotify():
		return errors.New("run etcd: it stopped: see its log")
	}
}

// Close stops the server and waits for it.
func (e *Etcd) Close() { e.server.Close() }
