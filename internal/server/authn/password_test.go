package authn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

func (d desk) try(t *testing.T, name, password string) error {
	t.Helper()
	return d.tryFrom(t, "", name, password)
}

func (d desk) tryFrom(t *testing.T, from, name, password string) error {
	t.Helper()
	_, _, err := d.SignIn(t.Context(), api.SignIn{Username: name, Password: password}, Client{IP: from})
	return err
}

func TestAStrangerDoesNotLockOutAUser(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "admin")
	for range 100 {
		_ = d.tryFrom(t, "203.0.113.9", "admin", "wrong password") // what is told is another test's
	}
	if err := d.tryFrom(t, "203.0.113.9", "admin", goodPassword); api.CodeOf(err) != api.CodeTooMany {
		t.Errorf("the stranger may go on: %v", err)
	}
	if err := d.tryFrom(t, "192.0.2.1", "admin", goodPassword); err != nil {
		t.Errorf("the user, at another address: %v", err)
	}
}

func TestManyAddressesTogetherHaveABoundThatIsNotTheUsers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"admin", "nobody"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.user(t, "admin")
			if err := d.tryFrom(t, "192.0.2.1", "admin", goodPassword); err != nil {
				t.Fatal(err)
			}
			looked := 0
			for i := range 300 {
				if api.CodeOf(d.tryFrom(t, fmt.Sprintf("203.0.113.%d", i), name, "wrong password")) == api.CodeUnauthenticated {
					looked++
				}
			}
			if looked != freeFailuresAll {
				t.Errorf("%d guesses from many addresses were looked at, want %d", looked, freeFailuresAll)
			}
			if err := d.tryFrom(t, "192.0.2.1", "admin", goodPassword); err != nil {
				t.Errorf("the user, at the address of before: %v", err)
			}
			if err := d.tryFrom(t, "203.0.113.1", name, "wrong password"); api.CodeOf(err) != api.CodeTooMany {
				t.Errorf("the sign-in of the user gave strangers another share: %v", err)
			}
		})
	}
}

func TestAStrangerDoesNotKeepWhoIsSignedInFromChangingThePassword(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	for i := range 300 {
		_ = d.tryFrom(t, fmt.Sprintf("203.0.113.%d", i), "ada", "wrong password") // what is told is another test's
	}
	who := Identity{Subject: rbac.Subject{UserID: "ada"}}
	if err := d.ChangePassword(t.Context(), who, api.PasswordChange{Current: goodPassword, New: "several words that differ"}); err != nil {
		t.Error(err)
	}
}

func TestANewPasswordEndsALockOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	for range 50 {
		_ = d.tryFrom(t, "192.0.2.1", "ada", "wrong password") // what is told is another test's
	}
	password, err := d.ResetPassword(t.Context(), "ada", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.tryFrom(t, "192.0.2.1", "ada", password); err != nil {
		t.Error(err)
	}
}

func TestAWrongPasswordAndAnUnknownUserGetTheSameAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	if err := d.store.CreateAuthUser(t.Context(), User{User: api.User{Meta: api.Meta{ID: "sso"}}}); err != nil {
		t.Fatal(err)
	}
	want := d.try(t, "ada", "something else")
	if api.CodeOf(want) != api.CodeUnauthenticated {
		t.Fatalf("a wrong password is %v", want)
	}
	for _, tt := range [][2]string{{"bob", goodPassword}, {"sso", ""}, {"sso", goodPassword}, {"no name!", "x"}, {"ada", strings.Repeat("x", 5000)}, {"", ""}} {
		if got := d.try(t, tt[0], tt[1]); got == nil || got.Error() != want.Error() {
			t.Errorf("%.20q, %.20q: %v", tt[0], tt[1], got)
		}
	}
	if err := d.try(t, "ada", goodPassword); err != nil {
		t.Error(err)
	}
}

// TestEveryAnswerTakesAHash holds that time tells nothing: with all places of the hasher taken, no answer comes at all,
// whether there is such a user or not.
func TestEveryAnswerTakesAHash(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	for range cap(d.hasher.slots) {
		d.hasher.slots <- struct{}{}
	}
	for _, name := range []string{"ada", "bob", "no name!"} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, _, err := d.SignIn(ctx, api.SignIn{Username: name, Password: goodPassword}, Client{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: answered %v without a hash", name, err)
		}
	}
}

func TestWrongPasswordsMakeTheNextWaitLonger(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ada", "nobody"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.user(t, "ada")
			var waits []int
			for range 20 {
				err := d.try(t, name, "wrong password")
				var said *api.Error
				if !errors.As(err, &said) {
					t.Fatal(err)
				}
				if said.Code == api.CodeTooMany {
					waits = append(waits, said.RetryAfter)
					d.clock.pass(time.Duration(said.RetryAfter) * time.Second)
				}
			}
			// Five are free; then every other one is refused.
			if diff := cmp.Diff([]int{1, 2, 4, 8, 16, 32, 64, 128}, waits); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALockedNameIsOpenAgainAfterItsWait(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	for range freeFailures {
		_ = d.try(t, "ada", "wrong password") // what is told is another test's
	}
	if err := d.try(t, "ada", goodPassword); api.CodeOf(err) != api.CodeTooMany {
		t.Fatalf("the right password while locked: %v", err)
	}
	d.clock.pass(time.Second)
	if err := d.try(t, "ada", goodPassword); err != nil {
		t.Fatal(err)
	}
	for i := range freeFailures {
		if err := d.try(t, "ada", "wrong password"); api.CodeOf(err) != api.CodeUnauthenticated {
			t.Errorf("wrong passwords are remembered after the right one, at try %d: %v", i, err)
		}
	}
	if _, refused := attemptAt(Attempt{Failures: 1000, LastAt: d.clock.now(), LockedUntil: d.clock.now()}, d.clock.now(), freeFailures); refused {
		t.Error("refused at the end of the wait")
	}
	next, _ := attemptAt(Attempt{Failures: 1000, LastAt: d.clock.now()}, d.clock.now(), freeFailures)
	if wait := next.LockedUntil.Sub(d.clock.now()); wait != maxWait {
		t.Errorf("after 1000 failures the wait is %s", wait)
	}
	if next, _ := attemptAt(Attempt{Failures: 1000, LastAt: d.clock.now()}, d.clock.now().Add(25*time.Hour), freeFailures); next.Failures != 1 {
		t.Errorf("a day later there are %d failures", next.Failures)
	}
}

func TestGuessesAtTheSameMomentGetNoMoreThanTheirShare(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	var all sync.WaitGroup
	looked := make(chan bool, 100)
	for range cap(looked) {
		all.Go(func() {
			err := d.try(t, "ada", "wrong password")
			looked <- api.CodeOf(err) == api.CodeUnauthenticated
		})
	}
	all.Wait()
	close(looked)
	count := 0
	for l := range looked {
		if l {
			count++
		}
	}
	if count != freeFailures {
		t.Errorf("%d guesses were looked at", count)
	}
}

func TestADisabledUserIsToldSoOnlyWithTheRightPassword(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	if err := change(d.store, d.store.users, "ada", func(u *User) { u.Disabled = true }); err != nil {
		t.Fatal(err)
	}
	if err := d.try(t, "ada", "wrong password"); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("wrong password: %v", err)
	}
	if err := d.try(t, "ada", goodPassword); api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("right password: %v", err)
	}
}

func TestRulesOfPasswords(t *testing.T) {
	t.Parallel()
	tests := []struct{ user, password, why string }{
		{"ada", goodPassword, ""},
		{"ada", "пароль из трёх слов", ""},
		{"ada", "x7#kQ9!vLm2$", ""},
		{"ada", "ada and eleven others", ""},
		{"ada", newPassword(), ""},
		{"ada", "short", "has 5 characters"},
		{"ada", strings.Repeat("ab cd ", 100), "more than 256"},
		{"ada", strings.Repeat("x", 2000), "more than 256"},
		{"ada", "aaaaaaaaaaaaaa", "easy to guess"},
		{"ada", "abcdefghijklmnop", "easy to guess"},
		{"ada", "1234567890123", "easy to guess"},
		{"ada", "Password1234!", "easy to guess"},
		{"ada", "P@ssw0rd2026!", "easy to guess"},
		{"ada", "admin-password-1", "easy to guess"},
		{"christopher", "Christopher1987", "the user name"},
		{"ada", "correct\x00horse battery", "cannot be typed"},
		{"ada", "correct horse \xff battery", "cannot be typed"},
	}
	for _, tt := range tests {
		err := CheckPassword(tt.user, tt.password)
		if (err == nil) != (tt.why == "") || err != nil && (!strings.Contains(err.Error(), tt.why) || api.CodeOf(err) != api.CodeInvalid) {
			t.Errorf("%.30q: %v, want %q", tt.password, err, tt.why)
		}
		if err != nil && strings.Contains(err.Error(), tt.password) {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

func TestAPasswordIsTheSameOnEveryKeyboard(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	hash, err := d.hasher.hash(t.Context(), "Zürich im Fru\u0308hling")
	if err != nil {
		t.Fatal(err)
	}
	if ok, _, err := d.hasher.verify(t.Context(), hash, "Zu\u0308rich im Frühling"); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestAHashOfOlderParametersIsMadeAnewAtSignIn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	old := d.store.users["ada"].PasswordHash
	d.hasher.params = Params{Memory: 128, Time: 2, Threads: 1}
	if err := d.try(t, "ada", goodPassword); err != nil {
		t.Fatal(err)
	}
	renewed := d.store.users["ada"].PasswordHash
	if renewed == old || !strings.Contains(renewed, "m=128,t=2,p=1") {
		t.Errorf("the hash is %s", renewed)
	}
	if err := d.try(t, "ada", goodPassword); err != nil {
		t.Error(err)
	}
	if d.store.users["ada"].PasswordHash != renewed {
		t.Error("the hash is made anew each time")
	}
}

func TestTheFirstAdministratorIsMadeOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	password, err := d.FirstAdmin(t.Context(), "")
	if err != nil || len(password) != 23 {
		t.Fatalf("%q, %v", password, err)
	}
	if err := d.try(t, "admin", password); err != nil {
		t.Error(err)
	}
	if again, err := d.FirstAdmin(t.Context(), ""); again != "" || err != nil {
		t.Errorf("made again: %q, %v", again, err)
	}
	other := newDesk(t)
	other.user(t, "ada")
	if again, err := other.FirstAdmin(t.Context(), ""); again != "" || err != nil {
		t.Errorf("made beside another user: %q, %v", again, err)
	}
	given := newDesk(t)
	if got, err := given.FirstAdmin(t.Context(), goodPassword); got != goodPassword || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := newDesk(t).FirstAdmin(t.Context(), "weak"); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("a weak password is taken: %v", err)
	}
}

func TestAResetPasswordMustBeChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	session, cookies := d.browser(t, "ada", goodPassword)
	for range freeFailures {
		_ = d.try(t, "ada", "wrong password") // what is told is another test's
	}
	password, err := d.ResetPassword(t.Context(), "ada", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.identify(t, cookies); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("the session %v goes on: %v", session.ExpiresAt, err)
	}
	_, cookies = d.browser(t, "ada", password)
	who, err := d.identify(t, cookies)
	if err != nil || !who.MustChangePassword {
		t.Fatalf("%+v, %v", who, err)
	}
	if _, _, err := d.SignIn(t.Context(), api.SignIn{Username: "ada", Password: password, Token: "laptop"}, Client{}); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("a token for a password that was given: %v", err)
	}
	if err := d.ChangePassword(t.Context(), who, api.PasswordChange{Current: password, New: goodPassword}); err != nil {
		t.Fatal(err)
	}
	if who, err := d.identify(t, cookies); err != nil || who.MustChangePassword {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := d.ResetPassword(t.Context(), "bob", ""); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("reset of nobody: %v", err)
	}
	if _, err := d.ResetPassword(t.Context(), "ada", "weak"); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("reset to a weak one: %v", err)
	}
	if err := d.store.CreateAuthUser(t.Context(), User{User: api.User{Meta: api.Meta{ID: "sso"}, Origin: api.OriginOIDC}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ResetPassword(t.Context(), "sso", ""); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("reset of who has none: %v", err)
	}
}

func TestAChangedPasswordEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	_, mine := d.browser(t, "ada", goodPassword)
	_, other := d.browser(t, "ada", goodPassword)
	who, err := d.identify(t, mine)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ current, next, field string }{
		{"wrong password", "staple orbit lantern", "current"}, {goodPassword, goodPassword, "new"}, {goodPassword, "weak", "password"},
	} {
		var said *api.Error
		err := d.ChangePassword(t.Context(), who, api.PasswordChange{Current: tt.current, New: tt.next})
		if !errors.As(err, &said) || said.Code != api.CodeInvalid || said.Field != tt.field {
			t.Errorf("%s to %s: %v", tt.current, tt.next, err)
		}
	}
	if err := d.ChangePassword(t.Context(), who, api.PasswordChange{Current: goodPassword, New: "staple orbit lantern"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.identify(t, mine); err != nil {
		t.Errorf("the session it was changed in: %v", err)
	}
	if _, err := d.identify(t, other); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("the other session: %v", err)
	}
	if err := d.try(t, "ada", goodPassword); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("the old password: %v", err)
	}
}

func TestHashesThatNobodyWroteAreRefused(t *testing.T) {
	t.Parallel()
	good := passwordHash{params: cheap, salt: random(saltSize), key: random(keySize)}.String()
	if h, err := parseHash(good); err != nil || h.String() != good {
		t.Fatalf("%s: %v", good, err)
	}
	for _, bad := range []string{
		"", "x", strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "m=64", "m=4294967295", 1), strings.Replace(good, "m=64", "m=0", 1), strings.Replace(good, "t=1", "t=1000", 1),
		strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "p=1", "p=1,q=2", 1), strings.Replace(good, "m=64,t=1", "t=1,m=64", 1),
		strings.Replace(good, "p=1", "p=257", 1), good + "$", good[:len(good)-30], good + strings.Repeat("A", 300),
	} {
		if h, err := parseHash(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, h)
		}
	}
	if _, err := newHasher(Params{Memory: 1, Time: 1, Threads: 1}); err == nil {
		t.Error("too little memory is accepted")
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(passwordHash{params: cheap, salt: make([]byte, saltSize), key: make([]byte, keySize)}.String())
	f.Add("$argon2id$v=19$m=65536,t=3,p=2$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5")
	f.Add("$2y$10$abc")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHash(text)
		if err != nil {
			return
		}
		if !h.params.valid() {
			t.Fatalf("%q asks for %+v", text, h.params)
		}
		again, err := parseHash(h.String())
		if err != nil || again.String() != h.String() {
			t.Fatalf("%q is written as %q (%v)", text, h, err)
		}
	})
}
