package testenv

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

func TestAProcessIsKilledAndStartedAgain(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho begun with $1 and $WHAT\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_SLIPWAY_AGENT", program)
	p := NewProcess(t, "one", "slipway-agent", t.TempDir(), "a word")
	p.Env = []string{"WHAT=more"}
	for round := range 2 {
		p.Start()
		err := wait.PollUntilContextTimeout(t.Context(), probeEvery, time.Minute, true, func(context.Context) (bool, error) {
			return p.Logged("begun with a word and more") > round, nil
		})
		if err != nil {
			t.Fatalf("%v; the log is:\n%s", err, p.Tail())
		}
		if p.Ended() {
			t.Error("it ended by itself")
		}
		p.Kill()
		p.Kill()
		if p.Ended() {
			t.Error("one that was killed ended by itself")
		}
	}
}

func TestWhatAKilledProcessHadStartedMayWriteForAMoment(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	script := "#!/bin/sh\nmkdir $1/data\n(for n in $(seq 20000); do : >$1/data/$n || exit; done) 2>/dev/null &\necho begun\nexec sleep 600\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_SLIPWAY_AGENT", program)
	dir := t.TempDir()
	t.Run("it is killed", func(t *testing.T) {
		p := NewProcess(t, "one", "slipway-agent", dir, dir)
		p.Start()
		err := wait.PollUntilContextTimeout(t.Context(), probeEvery, time.Minute, true, func(context.Context) (bool, error) {
			return p.Logged("begun") > 0, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its directory is there: %v", err)
	}
}

func TestAProcessThatEndsByItselfIsNoticed(t *testing.T) {
	t.Setenv("TEST_SLIPWAY_AGENT", "/bin/true")
	p := NewProcess(t, "one", "slipway-agent", t.TempDir())
	p.Start()
	err := wait.PollUntilContextTimeout(t.Context(), probeEvery, time.Minute, true, func(context.Context) (bool, error) { return p.Ended(), nil })
	if err != nil {
		t.Error(err)
	}
}
