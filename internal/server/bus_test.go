package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhereServersMeetIsSaidAsAWhole(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		cfg   Config
		wrong string
		tls   bool
	}{
		{"TLS by the scheme", Config{NatsURLs: []string{"tls://u:s3cret@nats.example.org:7422"}}, "", true},
		{"without TLS", Config{NatsURLs: []string{"nats://127.0.0.1:7422"}}, "", false},
		{"another scheme", Config{NatsURLs: []string{"http://u:s3cret@nats.example.org"}}, "--nats-url", false},
		{"no host", Config{NatsURLs: []string{"s3cret"}}, "--nats-url", false},
		{"both ways", Config{NatsURLs: []string{"tls://nats.example.org:7422"}, ClusterListen: "10.0.0.7:6222"}, "--cluster-listen", false},
		{"an authority that is none", Config{NatsURLs: []string{"tls://nats.example.org:7422"}, NatsCA: broken}, "--nats-ca", false},
		{"no file", Config{NatsURLs: []string{"tls://nats.example.org:7422"}, NatsCredentials: broken + "/no"}, "--nats-creds", false},
		{"credentials for nobody", Config{NatsCredentials: broken}, "--nats-url", false},
	} {
		c.cfg.Log = slog.New(slog.DiscardHandler)
		got, err := c.cfg.bus()
		switch {
		case (err != nil) != (c.wrong != "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "s3cret")):
			t.Errorf("%s: %v", c.name, err)
		case err == nil && (got.Bus.TLS != nil) != c.tls:
			t.Errorf("%s: TLS is %v", c.name, got.Bus.TLS != nil)
		}
	}
}
