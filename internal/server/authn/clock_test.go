package authn

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

const year = 365 * 24 * time.Hour

func TestALockThatWasMadeWhileTheClockWasAheadEndsInTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	d.clock.pass(year)
	for range freeFailures {
		_ = d.try(t, "ada", "wrong password") // another test looks at the answers
	}
	d.clock.pass(-year)
	err := d.try(t, "ada", goodPassword)
	var said *api.Error
	if !errors.As(err, &said) || said.Code != api.CodeTooMany || said.RetryAfter > int(maxWait.Seconds()) {
		t.Fatalf("the lock went, or lasts: %v", err)
	}
	d.clock.pass(maxWait / 2)
	if err := d.try(t, "ada", goodPassword); api.CodeOf(err) != api.CodeTooMany {
		t.Fatalf("in between: %v", err)
	}
	d.clock.pass(maxWait / 2)
	if err := d.try(t, "ada", goodPassword); err != nil {
		t.Errorf("after the longest wait: %v", err)
	}
}

func TestASessionThatWasMadeWhileTheClockWasAheadEndsWhenItGoesBack(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, year} {
		d := newDesk(t)
		d.user(t, "ada")
		d.clock.pass(ahead)
		_, cookies := d.browser(t, "ada", goodPassword)
		d.clock.pass(-ahead)
		if _, err := d.identify(t, cookies); api.CodeOf(err) != api.CodeUnauthenticated {
			t.Errorf("made %s ahead: %v", ahead, err)
		}
		_, cookies = d.browser(t, "ada", goodPassword)
		if _, err := d.identify(t, cookies); err != nil {
			t.Errorf("made after that: %v", err)
		}
	}
}

func TestASessionThatEndedWhileTheClockWasAheadStaysEnded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	_, cookies := d.browser(t, "ada", goodPassword)
	d.clock.pass(year)
	if _, err := d.identify(t, cookies); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Fatalf("after a year: %v", err)
	}
	d.clock.pass(-year)
	if _, err := d.identify(t, cookies); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("it counts again: %v", err)
	}
}

func TestASignInThatWasBegunWhileTheClockWasAheadEndsWhenItGoesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mine := s.newBrowser(t)
	s.clock.pass(year)
	answer := mine.upTo(beginPath, s.url+callbackPath)
	s.clock.pass(-year)
	if status, text, _ := mine.get(answer.String()); status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", status, text)
	}
}
