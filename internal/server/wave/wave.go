// Package wave upgrades agents, some after the others: canaries first, then steps, each of which waits until its agents run the new
// version and are healthy. What it knows is in the database, so any server goes on with what another one began.
package wave

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// Sight is how an agent is now.
type Sight struct {
	Gone      bool // it was deleted
	Connected bool
	// Trouble is why it is not healthy; "" where it is. It is set only for an agent that is connected.
	Trouble string
	Image   string // with its digest; "" where it is not known
	Version string
	// Failed is how many of its applications need attention because they fail.
	Failed int
	// Cannot is why it cannot be upgraded by a command; "" where it can.
	Cannot string
}

// Move is what comes next.
type Move struct {
	// Changed are the agents that are another thing now.
	Changed []api.UpgradeTarget
	// State is that of the upgrade when it is over, with a message; "" while it goes on.
	State, Message string
	Step           int
}

// Plan puts agents in the order in which they are upgraded, each with its step. canary reports whether one is to be among the first;
// nil: as many as the request says.
func Plan(targets []api.UpgradeTarget, r *api.UpgradeRequest, canary func(agent string) bool) ([]api.UpgradeTarget, int) {
	slices.SortFunc(targets, func(a, b api.UpgradeTarget) int { return strings.Compare(a.Agent, b.Agent) })
	var first, rest []api.UpgradeTarget
	for _, t := range targets {
		is := canary != nil && canary(t.Agent) || canary == nil && t.State != api.UpgradeTargetSkipped && len(first) < r.Canary
		if is {
			first = append(first, t)
		} else {
			rest = append(rest, t)
		}
	}
	steps := r.Steps
	for i := range first {
		first[i].Step = 0
	}
	// Few agents may leave steps empty: those are left out.
	at, step, used := 0, 0, -1
	for i := range rest {
		for at < len(steps)-1 && (i+1)*100 > steps[at]*len(rest) {
			at++
		}
		if at != used {
			step, used = step+1, at
		}
		rest[i].Step = step
	}
	out := slices.Concat(first, rest)
	last := 0
	for i := range out {
		out[i].Place = i + 1
		last = max(last, out[i].Step)
	}
	return out, last
}

// Next says what comes next of an upgrade, from how all its agents are at a time.
func Next(u *api.Upgrade, targets []api.UpgradeTarget, sight map[string]Sight, now time.Time) Move {
	n := next{u: u, now: now, sight: sight}
	before := targets
	targets = slices.Clone(targets)
	for i := range targets {
		n.look(&targets[i])
	}
	n.halted(targets)
	if u.Back {
		n.takeBack(targets)
	} else if n.halt == "" && u.StoppedBy == "" {
		n.begin(targets)
	}
	move := Move{Step: step(targets)}
	for i := range targets {
		if targets[i] != before[i] {
			move.Changed = append(move.Changed, targets[i])
		}
	}
	n.end(&move, targets)
	return move
}

type next struct {
	u     *api.Upgrade
	now   time.Time
	sight map[string]Sight
	halt  string // why nothing more is begun
}

// open reports whether something is under way with an agent.
func open(state string) bool {
	return state == api.UpgradeTargetUpgrading || state == api.UpgradeTargetChecking || state == api.UpgradeTargetReturning
}

// step is the first step that has an agent which is not over; the last one where there is none.
func step(targets []api.UpgradeTarget) int {
	last := 0
	for i := range targets {
		t := &targets[i]
		if t.State == api.UpgradeTargetWaiting || open(t.State) {
			return t.Step
		}
		last = max(last, t.Step)
	}
	return last
}

func (n *next) timeout() time.Duration { return time.Duration(n.u.Request.Timeout) * time.Second }

// look moves an agent on that is under way.
func (n *next) look(t *api.UpgradeTarget) {
	if !open(t.State) {
		return
	}
	s := n.sight[t.Agent]
	t.FailedNow = s.Failed
	if s.Gone {
		n.over(t, api.UpgradeTargetFailed, "the agent was deleted")
		return
	}
	if t.State == api.UpgradeTargetReturning {
		n.lookBack(t, &s)
		return
	}
	trouble := n.trouble(t, &s)
	if trouble != "" {
		t.State, t.HealthyAt = api.UpgradeTargetUpgrading, time.Time{}
		if strings.HasSuffix(s.Image, t.Digest) {
			t.State = api.UpgradeTargetChecking
		}
		if n.now.Sub(t.StartedAt) > n.timeout() {
			n.back(t, fmt.Sprintf("after %s %s", n.timeout(), trouble))
			return
		}
		t.Message = trouble
		return
	}
	t.State, t.Message = api.UpgradeTargetChecking, ""
	if t.HealthyAt.IsZero() {
		t.HealthyAt = n.now
	}
	if n.now.Sub(t.HealthyAt) >= time.Duration(n.u.Request.Hold)*time.Second {
		n.over(t, api.UpgradeTargetDone, "")
	}
}

// trouble is why an agent is not upgraded and well yet; "" where it is.
func (n *next) trouble(t *api.UpgradeTarget, s *Sight) string {
	switch {
	case !s.Connected:
		return "the agent is not connected"
	case !strings.HasSuffix(s.Image, t.Digest):
		return "the agent does not report the new image yet"
	case s.Trouble != "":
		return "the agent is not healthy: " + s.Trouble
	case s.Failed > t.FailedBefore:
		return fmt.Sprintf("%d applications fail, and %d did before the upgrade", s.Failed, t.FailedBefore)
	}
	return ""
}

// lookBack moves an agent on that goes back.
func (n *next) lookBack(t *api.UpgradeTarget, s *Sight) {
	switch {
	case s.Connected && s.Image != "" && !strings.HasSuffix(s.Image, t.Digest):
		n.over(t, api.UpgradeTargetReturned, t.Message)
	case n.now.Sub(t.StartedAt) > n.timeout():
		n.over(t, api.UpgradeTargetFailed, t.Message+"; it did not come back with the image before: look at it in its cluster")
	}
}

func (n *next) over(t *api.UpgradeTarget, state, message string) {
	t.State, t.Message, t.FinishedAt = state, message, n.now
}

// back sends an agent back to what it ran.
func (n *next) back(t *api.UpgradeTarget, why string) {
	t.State, t.Message, t.StartedAt, t.HealthyAt, t.FinishedAt = api.UpgradeTargetReturning, why, n.now, time.Time{}, time.Time{}
	t.Command, t.Answered = command(n.u.ID, t.Place, "b"), false
}

// command names the command of an agent: the same whichever server gives it, so that the agent does it once.
func command(upgrade string, place int, what string) string {
	return fmt.Sprintf("%s-%d-%s", upgrade, place, what)
}

// halted finds why nothing more is begun.
func (n *next) halted(targets []api.UpgradeTarget) {
	for i := range targets {
		t := &targets[i]
		bad := t.State == api.UpgradeTargetFailed || t.State == api.UpgradeTargetReturned || t.State == api.UpgradeTargetReturning ||
			t.State == api.UpgradeTargetRefused
		// What was in trouble before a person resumed the upgrade does not stop it again.
		if bad && !n.u.Back && t.StartedAt.After(n.u.ResumedAt) {
			n.halt = fmt.Sprintf("agent %s: %s", t.Agent, t.Message)
			return
		}
	}
}

// begin begins what may be begun of the present step.
func (n *next) begin(targets []api.UpgradeTarget) {
	at, busy := step(targets), 0
	if at > 0 && n.u.ResumedAt.IsZero() && n.unproven(targets) {
		n.halt = "no canary was upgraded: see why below, then resume, or choose other canaries"
		return
	}
	for i := range targets {
		if open(targets[i].State) {
			busy++
		}
	}
	for i := range targets {
		t := &targets[i]
		if t.State != api.UpgradeTargetWaiting || t.Step != at {
			continue
		}
		if busy >= n.u.Request.MaxUnavailable {
			return
		}
		s := n.sight[t.Agent]
		switch {
		case s.Gone:
			n.over(t, api.UpgradeTargetSkipped, "the agent was deleted")
		case !s.Connected:
			n.over(t, api.UpgradeTargetSkipped, "the agent is not connected")
		case strings.HasSuffix(s.Image, t.Digest):
			n.over(t, api.UpgradeTargetSkipped, "the agent runs this version already")
		case s.Cannot != "":
			n.over(t, api.UpgradeTargetSkipped, s.Cannot)
		default:
			t.State, t.StartedAt, t.Message = api.UpgradeTargetUpgrading, n.now, ""
			t.From, t.FromVersion, t.FailedBefore, t.FailedNow = s.Image, s.Version, s.Failed, s.Failed
			t.Command, t.Answered = command(n.u.ID, t.Place, "u"), false
			busy++
		}
	}
}

// unproven reports whether there were canaries, and none of them runs the new version.
func (n *next) unproven(targets []api.UpgradeTarget) bool {
	some := false
	for i := range targets {
		t := &targets[i]
		if t.Step > 0 {
			continue
		}
		if t.State == api.UpgradeTargetDone || strings.HasSuffix(n.sight[t.Agent].Image, t.Digest) {
			return false
		}
		some = true
	}
	return some
}

// takeBack sends back what was upgraded, the last ones first.
func (n *next) takeBack(targets []api.UpgradeTarget) {
	busy := 0
	for i := range targets {
		if targets[i].State == api.UpgradeTargetReturning {
			busy++
		}
	}
	for i := len(targets) - 1; i >= 0; i-- {
		t := &targets[i]
		was := t.State == api.UpgradeTargetDone || t.State == api.UpgradeTargetUpgrading || t.State == api.UpgradeTargetChecking
		if !was {
			continue
		}
		if busy >= n.u.Request.MaxUnavailable {
			return
		}
		n.back(t, "taken back by "+n.u.StoppedBy)
		busy++
	}
}

// end says whether an upgrade is over, and with what.
func (n *next) end(m *Move, targets []api.UpgradeTarget) {
	waiting, left := 0, 0
	for i := range targets {
		switch t := &targets[i]; {
		case open(t.State), n.u.Back && t.State == api.UpgradeTargetDone:
			left++
		case t.State == api.UpgradeTargetWaiting:
			waiting++
		}
	}
	switch {
	case left > 0:
	case n.u.Back:
		m.State, m.Message = api.UpgradeReturned, "taken back by "+n.u.StoppedBy
	case n.halt != "":
		m.State, m.Message = api.UpgradeFailed, n.halt
	case n.u.StoppedBy != "":
		m.State, m.Message = api.UpgradeStopped, "stopped by "+n.u.StoppedBy
	case waiting == 0:
		m.State = api.UpgradeDone
	}
}
