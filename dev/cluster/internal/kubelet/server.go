// Package kubelet answers what an API server asks of the nodes of a cluster:
// for logs of containers, and for commands in them. No container runs, so both
// are made up of what the pods say: logs of their annotations, and commands by
// the package shell, which touches nothing of the host.
package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/pki"
)

const (
	// headerLimit bounds the wait for the head of a request.
	headerLimit = 30 * time.Second
	// stopLimit bounds the wait for answers under way at a stop.
	stopLimit = 3 * time.Second
)

// Server is the one node API of all simulated nodes.
type Server struct {
	// Listener is the open port to serve on; Run closes it.
	Listener net.Listener
	// Keys holds the certificates. Only the API server may ask.
	Keys pki.Store
	// Kubeconfig is the path of the credentials to read pods with.
	Kubeconfig string
}

// Run serves until ctx is done.
func (s Server) Run(ctx context.Context) error {
	defer func() { _ = s.Listener.Close() }() // closed twice is closed
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig of the node API: %w", err)
	}
	config.QPS = -1 // as many requests as are asked of it
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client of the node API: %w", err)
	}
	secure, err := s.tls()
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: handler(client), TLSConfig: secure, ReadHeaderTimeout: headerLimit,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		limited, done := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer done()
		if server.Shutdown(limited) != nil {
			_ = server.Close() // a client that does not end in time is cut off
		}
	})
	err = server.ServeTLS(s.Listener, "", "")
	if !stop() {
		<-stopped
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the node API: %w", err)
	}
	return nil
}

// tls lets in clients with the API server's certificate for nodes, and no others:
// the same authority signs the certificates of ordinary users.
func (s Server) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(s.Keys.CertPath(pki.Kubelet), s.Keys.KeyPath(pki.Kubelet))
	if err != nil {
		return nil, fmt.Errorf("read certificate of the node API: %w", err)
	}
	authority, err := os.ReadFile(s.Keys.CertPath(pki.CA))
	if err != nil {
		return nil, fmt.Errorf("read authority of the node API: %w", err)
	}
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("read authority of the node API: %s holds no certificate", s.Keys.CertPath(pki.CA))
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 || state.PeerCertificates[0].Subject.CommonName != pki.KubeletClientName {
				return errors.New("only the API server may ask nodes")
			}
			return nil
		},
	}, nil
}

// node answers requests.
type node struct {
	client kubernetes.Interface
	now    func() time.Time
}

func handler(client kubernetes.Interface) http.Handler {
	n := &node{client: client, now: time.Now}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.logs)
	mux.HandleFunc("GET /exec/{namespace}/{pod}/{container}", n.exec)
	mux.HandleFunc("POST /exec/{namespace}/{pod}/{container}", n.exec)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	return mux
}

// pod returns the pod and the status of the container that a request is about,
// or answers the request and returns nil.
func (n *node) pod(w http.ResponseWriter, r *http.Request) (*corev1.Pod, *corev1.ContainerStatus) {
	name, container := r.PathValue("pod"), r.PathValue("container")
	pod, err := n.client.CoreV1().Pods(r.PathValue("namespace")).Get(r.Context(), name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		http.Error(w, fmt.Sprintf("pod %q does not exist", name), http.StatusNotFound)
	case err != nil:
		http.Error(w, fmt.Sprintf("read pod %q: %v", name, err), http.StatusInternalServerError)
	case !declares(pod, container):
		http.Error(w, fmt.Sprintf("container %q not found in pod %q", container, name), http.StatusNotFound)
	default:
		status := statusOf(pod, container)
		if status != nil {
			return pod, status
		}
		http.Error(w, fmt.Sprintf("container %q in pod %q is not available", container, name), http.StatusBadRequest)
	}
	return nil, nil
}

// declares says whether a pod is to have a container of that name.
func declares(pod *corev1.Pod, name string) bool {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return true
			}
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		if pod.Spec.EphemeralContainers[i].Name == name {
			return true
		}
	}
	return false
}

// statusOf returns what is reported about a container, or nil.
func statusOf(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
