package wave_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/wave"
)

const (
	old   = "registry.example.org/agent@sha256:old"
	fresh = "registry.example.org/agent@sha256:new"
)

// fleet is agents that do what they are told a second later.
type fleet struct {
	u       api.Upgrade
	targets []api.UpgradeTarget
	sight   map[string]wave.Sight
	now     time.Time
	// breaks are agents that do not come back with the new image, sick those that are not healthy with it.
	breaks, sick, rises map[string]bool
	most                int // of agents under way at a time
}

func newFleet(n int, r api.UpgradeRequest) *fleet {
	f := &fleet{
		u: api.Upgrade{ID: "u", Request: r, State: api.UpgradeRunning}, sight: map[string]wave.Sight{}, now: time.Unix(1e9, 0),
		breaks: map[string]bool{}, sick: map[string]bool{}, rises: map[string]bool{},
	}
	for i := range n {
		id := fmt.Sprintf("account.a%02d", i)
		f.sight[id] = wave.Sight{Connected: true, Image: old, Version: "1.0.0", Failed: 1}
		f.targets = append(f.targets, api.UpgradeTarget{Agent: id, State: api.UpgradeTargetWaiting, Digest: "sha256:new"})
	}
	f.targets, f.u.Steps = wave.Plan(f.targets, &r, nil)
	return f
}

// tick lets a second pass, in which agents do what they were told.
func (f *fleet) tick() (over bool) {
	move := wave.Next(&f.u, f.targets, f.sight, f.now)
	for _, c := range move.Changed {
		f.targets[c.Place-1] = c
	}
	f.u.Step = move.Step
	under := 0
	for _, t := range f.targets {
		s := f.sight[t.Agent]
		switch t.State {
		case api.UpgradeTargetUpgrading:
			under++
			s.Image, s.Connected = fresh, !f.breaks[t.Agent]
			if f.sick[t.Agent] {
				s.Trouble = "git is away"
			}
			if f.rises[t.Agent] {
				s.Failed = 2
			}
		case api.UpgradeTargetChecking:
			under++
		case api.UpgradeTargetReturning:
			under++
			s = wave.Sight{Connected: true, Image: old, Version: "1.0.0", Failed: 1}
		}
		f.sight[t.Agent] = s
	}
	f.most = max(f.most, under)
	f.now = f.now.Add(time.Second)
	if move.State != "" {
		f.u.State, f.u.Message = move.State, move.Message
		return true
	}
	return false
}

func (f *fleet) run(t testing.TB) {
	t.Helper()
	for range 10_000 {
		if f.tick() {
			return
		}
	}
	t.Fatalf("it does not end: %+v", f.targets)
}

func (f *fleet) count(state string) (n int) {
	for _, t := range f.targets {
		if t.State == state {
			n++
		}
	}
	return n
}

func request() api.UpgradeRequest {
	return api.UpgradeRequest{Canary: 1, Steps: []int{25, 50, 100}, MaxUnavailable: 2, Hold: 5, Timeout: 30}
}

func TestCanariesComeFirstAndStepsFollow(t *testing.T) {
	t.Parallel()
	f := newFleet(9, request())
	var steps []int
	for _, target := range f.targets {
		steps = append(steps, target.Step)
	}
	if want := []int{0, 1, 1, 2, 2, 3, 3, 3, 3}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %v, not %v", steps, want)
	}
	for !f.tick() {
		for _, target := range f.targets {
			for _, before := range f.targets {
				if target.State != api.UpgradeTargetWaiting && before.Step < target.Step && before.State != api.UpgradeTargetDone {
					t.Fatalf("%s of step %d is %s while %s of step %d is %s", target.Agent, target.Step, target.State, before.Agent, before.Step, before.State)
				}
			}
		}
	}
	if f.u.State != api.UpgradeDone || f.count(api.UpgradeTargetDone) != 9 || f.most != 2 {
		t.Errorf("%s: %d done, %d at a time", f.u.State, f.count(api.UpgradeTargetDone), f.most)
	}
}

func TestTroubleStopsTheUpgradeAndSendsTheAgentBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant func(*fleet)
		says  string
	}{
		"it does not connect":     {func(f *fleet) { f.breaks["account.a03"] = true }, "not connected"},
		"it is not healthy":       {func(f *fleet) { f.sick["account.a03"] = true }, "git is away"},
		"its applications failed": {func(f *fleet) { f.rises["account.a03"] = true }, "2 applications fail, and 1 did"},
	} {
		f := newFleet(9, request())
		c.plant(f)
		f.run(t)
		bad := f.targets[slices.IndexFunc(f.targets, func(t api.UpgradeTarget) bool { return t.Agent == "account.a03" })]
		if f.u.State != api.UpgradeFailed || !strings.Contains(f.u.Message, "account.a03") || bad.State != api.UpgradeTargetReturned || !strings.Contains(bad.Message, c.says) {
			t.Errorf("%s: %s %q, %s %q", name, f.u.State, f.u.Message, bad.State, bad.Message)
		}
		if f.count(api.UpgradeTargetWaiting) != 4 || f.count(api.UpgradeTargetDone) != 4 {
			t.Errorf("%s: %d wait, %d done", name, f.count(api.UpgradeTargetWaiting), f.count(api.UpgradeTargetDone))
		}
		// A person has looked, and goes on.
		f.u.ResumedAt, f.u.State = f.now, api.UpgradeRunning
		f.run(t)
		if f.u.State != api.UpgradeDone || f.count(api.UpgradeTargetDone) != 8 {
			t.Errorf("%s, resumed: %s %q, %d done", name, f.u.State, f.u.Message, f.count(api.UpgradeTargetDone))
		}
	}
}

func TestAnUpgradeIsStoppedAndResumedAndTakenBack(t *testing.T) {
	t.Parallel()
	f := newFleet(9, request())
	for f.count(api.UpgradeTargetDone) < 3 {
		f.tick()
	}
	f.u.StoppedBy = "user:ada"
	f.run(t)
	done := f.count(api.UpgradeTargetDone)
	if f.u.State != api.UpgradeStopped || done < 3 || done > 5 || f.count(api.UpgradeTargetWaiting) != 9-done {
		t.Errorf("stopped: %s, %d done", f.u.State, done)
	}
	f.u.StoppedBy, f.u.State, f.u.ResumedAt = "", api.UpgradeRunning, f.now
	for f.count(api.UpgradeTargetDone) < 7 {
		f.tick()
	}
	f.u.StoppedBy, f.u.Back = "user:ada", true
	f.run(t)
	if f.u.State != api.UpgradeReturned || f.count(api.UpgradeTargetDone) != 0 || f.most != 2 {
		t.Errorf("taken back: %s, %d done, %d at a time", f.u.State, f.count(api.UpgradeTargetDone), f.most)
	}
	for id, s := range f.sight {
		if s.Image != old {
			t.Errorf("%s runs %s", id, s.Image)
		}
	}
}

func TestAgentsThatCannotBeUpgradedAreLeftOut(t *testing.T) {
	t.Parallel()
	f := newFleet(5, request())
	f.sight["account.a01"] = wave.Sight{}
	f.sight["account.a02"] = wave.Sight{Connected: true, Image: old, Cannot: "it may not patch its Deployment"}
	f.sight["account.a03"] = wave.Sight{Connected: true, Image: fresh}
	f.sight["account.a04"] = wave.Sight{Gone: true}
	f.run(t)
	if f.u.State != api.UpgradeDone || f.count(api.UpgradeTargetDone) != 1 || f.count(api.UpgradeTargetSkipped) != 4 {
		t.Errorf("%s, %d done, %d skipped: %+v", f.u.State, f.count(api.UpgradeTargetDone), f.count(api.UpgradeTargetSkipped), f.targets)
	}
}

func TestNoUpgradeGoesOnBeyondTroubleWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "agents")
		r := api.UpgradeRequest{
			Canary: rapid.IntRange(0, 3).Draw(t, "canary"), Steps: []int{30, 100}, MaxUnavailable: rapid.IntRange(1, 4).Draw(t, "unavailable"),
			Hold: rapid.IntRange(0, 4).Draw(t, "hold"), Timeout: 20,
		}
		f := newFleet(n, r)
		for id := range f.sight {
			switch rapid.IntRange(0, 7).Draw(t, id) {
			case 0:
				f.breaks[id] = true
			case 1:
				f.sick[id] = true
			}
		}
		for range 2000 {
			if f.tick() {
				break
			}
		}
		if f.u.State == api.UpgradeRunning {
			t.Fatalf("it does not end: %+v", f.targets)
		}
		if f.most > r.MaxUnavailable {
			t.Fatalf("%d were under way", f.most)
		}
		troubles := 0
		for _, target := range f.targets {
			if f.breaks[target.Agent] || f.sick[target.Agent] {
				if target.State == api.UpgradeTargetDone {
					t.Fatalf("%s is done", target.Agent)
				}
				if target.State == api.UpgradeTargetReturned {
					troubles++
				}
			}
		}
		if troubles > r.MaxUnavailable {
			t.Fatalf("%d agents were in trouble before it stopped", troubles)
		}
	})
}

func TestStepsThatFewAgentsLeaveEmptyAreLeftOut(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][]int{1: {0}, 2: {0, 1}, 3: {0, 1, 2}, 4: {0, 1, 2, 2}} {
		f := newFleet(n, request())
		var steps []int
		for _, target := range f.targets {
			steps = append(steps, target.Step)
		}
		if !slices.Equal(steps, want) || f.u.Steps != want[n-1] {
			t.Errorf("%d agents have the steps %v of %d, not %v", n, steps, f.u.Steps, want)
		}
	}
}

func TestAWaveDoesNotGoOnWithoutACanary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		canary wave.Sight
		want   string
	}{
		"it left before its turn":    {wave.Sight{Image: old}, api.UpgradeFailed},
		"it cannot be upgraded":      {wave.Sight{Connected: true, Image: old, Cannot: "no right"}, api.UpgradeFailed},
		"it was deleted":             {wave.Sight{Gone: true}, api.UpgradeFailed},
		"it runs the new one by now": {wave.Sight{Connected: true, Image: fresh}, api.UpgradeDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(4, request())
			f.sight["account.a00"] = c.canary
			f.run(t)
			if f.u.State != c.want || c.want == api.UpgradeFailed && f.count(api.UpgradeTargetWaiting) != 3 {
				t.Fatalf("it is %s (%s): %+v", f.u.State, f.u.Message, f.targets)
			}
			if c.want == api.UpgradeDone {
				return
			}
			if !strings.Contains(f.u.Message, "no canary was upgraded") {
				t.Errorf("it says %q", f.u.Message)
			}
			// A person who resumes it has seen that.
			f.u.State, f.u.ResumedAt = api.UpgradeRunning, f.now
			f.run(t)
			if f.u.State != api.UpgradeDone || f.count(api.UpgradeTargetDone) != 3 {
				t.Errorf("resumed, it is %s: %+v", f.u.State, f.targets)
			}
		})
	}
}
