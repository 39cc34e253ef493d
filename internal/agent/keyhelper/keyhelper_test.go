package keyhelper_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/agent/keyhelper"
	"github.com/slipway-gitops/slipway/internal/sops"
)

// program writes a script that answers.
func program(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "helper")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// key is one of a key service.
func key() sops.Recipient {
	return sops.Recipient{Kind: sops.KindAWS, Fields: map[string]string{"arn": "arn:aws:kms:eu-1:1:key/2"}, Sealed: "c2VhbGVk"}
}

func TestTheProgramGetsTheKeyAndAnswers(t *testing.T) {
	t.Setenv("KEYHELPER_KEPT", "yes")
	t.Setenv("KEYHELPER_DROPPED", "secret")
	h, err := keyhelper.New(program(t, `read line
case "$line" in *'"version":1'*arn:aws:kms*c2VhbGVk*) ;; *) echo '{"error":"other request"}'; exit;; esac
[ "$KEYHELPER_KEPT$KEYHELPER_DROPPED" = yes ] || { echo '{"error":"other environment"}'; exit; }
echo '{"dataKey":"a2V5LW9mLTMyLWJ5dGVz"}'`), []string{"KEYHELPER_KEPT"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.OpenKey(t.Context(), key())
	if err != nil || string(got) != "key-of-32-bytes" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := h.OpenKey(t.Context(), sops.Recipient{Kind: sops.KindAge}); !errors.Is(err, sops.ErrNoKey) {
		t.Errorf("a key of age: %v", err)
	}
}

func TestWhatAProgramDoesWrongIsAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ body, want string }{
		"it refuses":       {`echo '{"error":"access denied"}'; exit 3`, "access denied"},
		"it fails":         {`exit 3`, "code 3"},
		"it says nothing":  {`true`, "no answer"},
		"it says too much": {`yes | head -c 1000000`, "more than 64 KiB"},
		"it says rubbish":  {`echo hello`, "no answer"},
		"it gives no key":  {`echo '{}'`, "no key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := keyhelper.New(program(t, "cat > /dev/null\n"+tt.body), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := h.OpenKey(t.Context(), key()); err == nil || got != nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), "arn:aws:kms:eu-1:1:key/2") {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestAProgramThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	h, err := keyhelper.New(program(t, "mkfifo "+started+"; cat "+started), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.OpenKey(ctx, key()); err == nil {
		t.Error("a request that is over was answered")
	}
}

func TestAProgramThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"helper": "absolute", "/none/at/all": "no such file", plain: "cannot be executed", t.TempDir(): "cannot be executed"} {
		if _, err := keyhelper.New(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if h, err := keyhelper.New("", nil); h != nil || err != nil {
		t.Errorf("none: %v, %v", h, err)
	}
}
