package swarm

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// door is where agents register. Each comes from an address of its own on loopback, as agents of different clusters do: the
// server bounds how often one address may try.
type door struct {
	server *url.URL
	roots  *x509.CertPool
}

func newDoor(server *url.URL, ca string) (*door, error) {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of the server: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the certificate of the server: %s holds none", ca)
	}
	return &door{server: server, roots: roots}, nil
}

// register sends one registration.
func (d *door) register(ctx context.Context, number int, in agentapi.Registration) (out agentapi.Registered, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("write it: %w", err)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 7, byte(number>>8), byte(number&0xff))}}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: dialer.DialContext, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: d.roots, MinVersion: tls.VersionTLS12},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.server.JoinPath(agentapi.PathRegister).String(), bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(req)
	if err != nil {
		return out, err
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return out, err
	}
	if answer.StatusCode != http.StatusOK {
		return out, fmt.Errorf("the server answered %s: %s", answer.Status, raw)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("read the answer: %w", err)
	}
	if out.UID == "" {
		return out, errors.New("the answer names no agent")
	}
	return out, nil
}
