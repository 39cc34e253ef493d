package authn

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/address"
)

// Wrong passwords: so many are free, then each one makes the next wait twice as long, up to a bound. They are forgotten
// after a day, or with the right one. They count for the name at one address, so that a stranger who fails does not lock
// out the user. All addresses together have a larger share of their own, which does not hold for an address where the user
// signed in lately: many addresses can slow down each other, and not the user.
const (
	freeFailures    = 5
	freeFailuresAll = 100
	maxWait         = 15 * time.Minute
	forgetAfter     = 24 * time.Hour
	// knownFor is how long an address counts as one where the user signed in.
	knownFor = 90 * 24 * time.Hour
)

// signedIn stands for the address of a user who is signed in already, and proves the password once more.
const signedIn = "signed in"

// attemptAt is what becomes of the record of wrong passwords when there is another try; refused while it is locked. Every
// try counts as wrong before it is looked at, so that many at the same moment do not get more than their share.
func attemptAt(a Attempt, now time.Time, free int) (next Attempt, refused bool) {
	if now.Before(a.LockedUntil) {
		// No lock is longer. One that ends later was made before the clock went back, and would end in a year.
		if latest := now.Add(maxWait); a.LockedUntil.After(latest) {
			a.LockedUntil, a.LastAt = latest, now
		}
		return a, true
	}
	if now.Sub(a.LastAt) > forgetAfter {
		a = Attempt{}
	}
	a.Failures++
	a.LastAt = now
	a.LockedUntil = time.Time{}
	if more := a.Failures - free; more >= 0 {
		a.LockedUntil = now.Add(min(maxWait, time.Second<<min(more, 20)))
	}
	return a, false
}

// The keys name records. There are such records whether there is a user of that name or not.
func nameKey(name string) string { return digest("user " + name) }

func knownKey(name, from string) string { return digest("user " + name + " known at " + place(from)) }

// placeKey is another one once the user has another password, so that a new password ends what the old one had locked.
func placeKey(user User, name, from string) string {
	return digest("user " + name + " at " + place(from) + " with " + user.PasswordHash)
}

// place is what counts as one address.
func place(from string) string {
	if from == signedIn {
		return from
	}
	return address.Network(from)
}

// beginAttempt counts a try to sign in, and refuses it where there were too many.
func (a *Authn) beginAttempt(ctx context.Context, user User, name, from string) error {
	if err := a.count(ctx, placeKey(user, name, from), freeFailures); err != nil {
		return err
	}
	known, err := a.cfg.Attempts.Attempt(ctx, knownKey(name, from), func(was Attempt) Attempt { return was })
	if err != nil {
		return err
	}
	if from == signedIn || a.cfg.Now().Before(known.LockedUntil) {
		return nil
	}
	return a.count(ctx, nameKey(name), freeFailuresAll)
}

func (a *Authn) count(ctx context.Context, key string, free int) error {
	var locked bool
	attempt, err := a.cfg.Attempts.Attempt(ctx, key, func(was Attempt) Attempt {
		var next Attempt
		next, locked = attemptAt(was, a.cfg.Now(), free)
		return next
	})
	if err != nil || !locked {
		return err
	}
	seconds := int((attempt.LockedUntil.Sub(a.cfg.Now()) + time.Second - 1) / time.Second)
	return &api.Error{
		Code: api.CodeTooMany, RetryAfter: seconds,
		Message: "too many wrong passwords for this user name: try again in " + (time.Duration(seconds) * time.Second).String(),
	}
}

// endAttempt forgets the tries of an address after the right password, and remembers the address. The tries of others
// stay: a user who signs in must not give strangers a new share each time.
func (a *Authn) endAttempt(ctx context.Context, user User, name, from string) error {
	if err := a.cfg.Attempts.ClearAttempts(ctx, placeKey(user, name, from)); err != nil || from == signedIn {
		return err
	}
	until := a.cfg.Now().Add(knownFor)
	counted := true
	_, err := a.cfg.Attempts.Attempt(ctx, knownKey(name, from), func(was Attempt) Attempt {
		counted = !a.cfg.Now().Before(was.LockedUntil)
		return Attempt{LastAt: until, LockedUntil: until} // LastAt is what old records are found by
	})
	if err != nil || !counted {
		return err
	}
	_, err = a.cfg.Attempts.Attempt(ctx, nameKey(name), func(was Attempt) Attempt { // this one was no failure
		was.Failures = max(was.Failures-1, 0)
		return was
	})
	return err
}
