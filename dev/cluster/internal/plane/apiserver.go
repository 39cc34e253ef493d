package plane

import (
	"context"
	"fmt"
	"net"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/pki"
)

// serviceRange is the range of service addresses. Nothing routes it.
const serviceRange = "10.96.0.0/16"

// ServiceIP returns the address of the service "kubernetes".
func ServiceIP() net.IP { return net.IPv4(10, 96, 0, 1) }

// APIServerConfig is what an API server needs from its surroundings.
type APIServerConfig struct {
	// Listener is the open port to serve on; RunAPIServer closes it.
	Listener net.Listener
	// Port is the number of the listener's port.
	Port int
	// Etcd is the endpoint of etcd.
	Etcd string
	// Keys holds the certificates.
	Keys pki.Store
	// AuditLog is a file for the audit log, and AuditPolicy the file that says what is in it; empty for none.
	AuditLog, AuditPolicy string
}

// RunAPIServer serves the Kubernetes API, custom resources and aggregation
// until ctx is done, then stops serving and returns nil.
func RunAPIServer(ctx context.Context, config APIServerConfig) error {
	s := options.NewServerRunOptions()
	s.SecureServing.Listener = config.Listener
	if err := parse("kube-apiserver", s.Flags(), apiServerArguments(config)); err != nil {
		return err
	}
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("configure kube-apiserver: %w", err)
	}
	completed, err := s.Complete(ctx)
	if err != nil {
		return fmt.Errorf("configure kube-apiserver: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("configure kube-apiserver: %w", utilerrors.NewAggregate(errs))
	}
	if err := app.Run(ctx, completed); err != nil && ctx.Err() == nil {
		return fmt.Errorf("run kube-apiserver: %w", err)
	}
	return nil
}

func apiServerArguments(config APIServerConfig) []string {
	keys := config.Keys
	var audit []string
	if config.AuditLog != "" {
		audit = []string{"--audit-log-path=" + config.AuditLog, "--audit-policy-file=" + config.AuditPolicy, "--audit-log-mode=blocking"}
	}
	return append(audit, []string{
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", config.Port),
		"--advertise-address=127.0.0.1",
		// The endpoints of the service "kubernetes" may not be loopback addresses.
		"--endpoint-reconciler-type=none",
		"--etcd-servers=" + config.Etcd,
		"--service-cluster-ip-range=" + serviceRange,
		"--tls-cert-file=" + keys.CertPath(pki.APIServer),
		"--tls-private-key-file=" + keys.KeyPath(pki.APIServer),
		"--client-ca-file=" + keys.CertPath(pki.CA),
		"--kubelet-certificate-authority=" + keys.CertPath(pki.CA),
		"--kubelet-client-certificate=" + keys.CertPath(pki.KubeletClient),
		"--kubelet-client-key=" + keys.KeyPath(pki.KubeletClient),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + keys.KeyPath(pki.ServiceAccount),
		"--service-account-signing-key-file=" + keys.KeyPath(pki.ServiceAccount),
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--requestheader-client-ca-file=" + keys.CertPath(pki.FrontProxyCA),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + keys.CertPath(pki.FrontProxyClient),
		"--proxy-client-key-file=" + keys.KeyPath(pki.FrontProxyClient),
		// No kube-proxy runs: services are reached through their endpoints.
		"--enable-aggregator-routing=true",
		// Benchmarks must meet the server's own limits, not these.
		"--max-requests-inflight=3000",
		"--max-mutating-requests-inflight=1500",
		"--http2-max-streams-per-connection=1000",
	}...)
}
