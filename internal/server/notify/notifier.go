package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

const (
	// attempts is how often a message is tried before it is dead: with the waits below for some two and a half hours.
	attempts = 12
	// firstWait is about the wait after the first attempt; each is twice the one before, up to longestWait.
	firstWait, longestWait = 10 * time.Second, 30 * time.Minute
	// sweepEvery is how often is looked for what a server that was killed has left, and for what lasts too long.
	sweepEvery = 30 * time.Second
	// eventGrace is how long a call of Wake may take for news that a sweep found, before they count as missed.
	eventGrace = 5 * time.Second
	// pause is the shortest time between two readings of news: many changes are read at a time.
	pause = 200 * time.Millisecond
	// retell is the pause before the result of an attempt is stored again, lastWord how long a server that ends
	// tries to.
	retell, lastWord = 250 * time.Millisecond, 5 * time.Second
	// promptly is how many messages a server sends at a time, of as many channels, slowly how many more whose receivers let it
	// wait for longer than patience. triesAtOnce is how many people try channels.
	promptly, slowly, triesAtOnce = 24, 24, 8
	// patience is how long a receiver may take before its message leaves its place to those of others.
	patience = 2 * time.Second
)

// WaitNews names the wait for something to notify of.
const WaitNews = "notification"

// Storage keeps rules, news and messages.
type Storage interface {
	// GatherNotifications reads what happened since, and keeps the messages that tell makes of it, once. made is called for
	// each rule that has new ones, when they are kept; news says that something happened, and not only time passed.
	GatherNotifications(ctx context.Context, timed bool, tell func(*api.NotificationRule,
		*api.NotificationEvent) (title, text string, ok bool),
		made func(rule api.Ref, news bool)) (more bool, next time.Duration, err error)
	// DueChannels are those that have a message to be sent now, and in how long the next is.
	DueChannels(context.Context) (due []string, next time.Duration, err error)
	ClaimNotification(ctx context.Context, channel, holder string, hold time.Duration) (d api.NotificationDelivery, there bool, err error)
	// EndNotification keeps what came of an attempt, and which receivers have the message.
	EndNotification(ctx context.Context, id, holder, state, message string, again time.Duration, taken []string) error
	NotificationChannel(ctx context.Context, id string) (api.NotificationChannel, error)
}

// Config is what a Notifier needs.
type Config struct {
	Storage Storage
	Send    func(context.Context, *api.NotificationChannel, *api.NotificationDelivery) error
	// Holder names this server among those that share the database.
	Holder string
	// Wait is how long after an attempt the next one comes; nil for twice as long each time, with jitter.
	Wait func(attempts int64) time.Duration
	// Tried is called with the state in which each attempt left a message; nil: it is not called. It must not block.
	Tried func(state string)
	// Told is called for a rule that has messages which are new, or in another state than before; nil: it is not called. It must not
	// block.
	Told func(ctx context.Context, rule api.Ref)
	// Alone reports whether no other server reads news: what one that was killed has left is found by the others. Nil: it is so.
	Alone func() bool
	// Missed is called when a sweep found news for which Wake should have been called; nil: nothing is called.
	Missed func()
	Log    *slog.Logger
}

// Notifier turns what happened into messages, and sends them.
type Notifier struct {
	cfg  Config
	news chan struct{} // has one in it while there may be news
	out  chan struct{} // has one in it while there may be something to send

	prompt  chan struct{} // places of messages
	slow    chan struct{} // places of messages whose receivers let one wait
	tries   chan struct{} // of people who try channels: they take none of those
	mu      sync.Mutex
	sending map[string]bool // channels
	late    map[string]bool // channels that let one wait the last time: they have places of their own
	work    sync.WaitGroup
}

// New makes a Notifier.
func New(cfg Config) *Notifier {
	if cfg.Wait == nil {
		cfg.Wait = wait
	}
	if cfg.Tried == nil {
		cfg.Tried = func(string) {}
	}
	if cfg.Told == nil {
		cfg.Told = func(context.Context, api.Ref) {}
	}
	if cfg.Alone == nil {
		cfg.Alone = func() bool { return true }
	}
	if cfg.Missed == nil {
		cfg.Missed = func() {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Notifier{
		cfg: cfg, news: make(chan struct{}, 1), out: make(chan struct{}, 1), prompt: make(chan struct{},
			promptly), slow: make(chan struct{}, slowly),
		tries: make(chan struct{}, triesAtOnce), sending: map[string]bool{}, late: map[string]bool{},
	}
}

// wait is twice as long after each attempt, give or take a quarter.
func wait(attempts int64) time.Duration {
	d := longestWait
	if attempts < 10 {
		d = min(firstWait<<max(attempts-1, 0), longestWait)
	}
	return d*3/4 + rand.N(d/2)
}

// Wake says that something may have happened. It does not wait.
func (n *Notifier) Wake() { nudge(n.news) }

// Flush says that something may be to be sent. It does not wait.
func (n *Notifier) Flush() { nudge(n.out) }

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Learn reads news now: a new rule applies to what happens after it.
func (n *Notifier) Learn(ctx context.Context) error {
	_, _, _, err := n.read(ctx, false)
	n.Wake()
	return err
}

// read reads news, and reports the rules that have messages of them, and whether something happened.
func (n *Notifier) read(ctx context.Context, timed bool) (happened, more bool, next time.Duration, err error) {
	more, next, err = n.cfg.Storage.GatherNotifications(ctx, timed, Tell, func(rule api.Ref, news bool) {
		happened = happened || news
		n.cfg.Told(ctx, rule)
	})
	return happened, more, next, err
}

// Of is the rule that a message is of.
func Of(d *api.NotificationDelivery) api.Ref {
	return api.Ref{Type: api.TypeNotificationRule, ID: d.Rule, Scope: d.Scope}
}

// Run reads news and sends messages until ctx ends, and then waits for what is being sent.
func (n *Notifier) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { n.gather(ctx) })
	both.Go(func() { n.send(ctx) })
	both.Wait()
	n.work.Wait()
}

// gather reads news whenever there may be some, and looks for what has lasted long enough when it has.
func (n *Notifier) gather(ctx context.Context) {
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	sound := false // all that was reported so far was read
	for {
		timed, late := false, false
		select {
		case <-ctx.Done():
			return
		case <-n.news:
		case <-sweep.C:
			timed = true
		}
		before := sound
		for more := true; more; {
			happened, rest, next, err := n.read(ctx, timed)
			if sound = err == nil; !sound && ctx.Err() == nil {
				n.cfg.Log.Error("read news for notifications; it is tried again", "err", err)
			}
			more, late = rest, late || happened
			if timed {
				if next < 0 || next > sweepEvery {
					next = about(sweepEvery)
				}
				sweep.Reset(next)
			}
		}
		n.Flush()
		if timed && late && before && n.cfg.Alone() {
			n.doubt(ctx)
		}
		if !rest(ctx, pause) {
			return
		}
	}
}

// doubt waits a moment for the call of Wake that belongs to news which a sweep found already, and counts them as missed where
// it does not come.
func (n *Notifier) doubt(ctx context.Context) {
	timer := time.NewTimer(eventGrace)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-n.news:
		n.Wake() // it may be of something that the sweep did not see
	case <-timer.C:
		n.cfg.Missed()
	}
}

// about is d, up to a fifth sooner: servers that began together do not look together.
func about(d time.Duration) time.Duration { return d - rand.N(d/5) }

// rest lets a time pass; false if ctx ended in the meantime.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// send starts to send for each channel for which something is to be sent.
func (n *Notifier) send(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.out:
		case <-timer.C:
		}
		due, next, err := n.cfg.Storage.DueChannels(ctx)
		if err != nil && ctx.Err() == nil {
			n.cfg.Log.Error("look for notifications to send; it is tried again", "err", err)
		}
		if next < 0 || next > sweepEvery {
			next = about(sweepEvery)
		}
		timer.Reset(next + time.Millisecond)
		for _, channel := range due {
			n.start(ctx, channel)
		}
	}
}

// start sends what a channel has, beside all others: one that hangs delays none but itself.
func (n *Notifier) start(ctx context.Context, channel string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sending[channel] {
		return
	}
	n.sending[channel] = true
	n.work.Go(func() {
		for n.one(ctx, channel) {
		}
		n.mu.Lock()
		delete(n.sending, channel)
		n.mu.Unlock()
		n.Flush() // what came in the moment before is seen
	})
}

// one sends the next message of a channel, and reports whether there was one.
func (n *Notifier) one(ctx context.Context, channel string) bool {
	at := n.enter(ctx, channel)
	if at == nil {
		return false
	}
	defer at.leave()
	d, there, err := n.cfg.Storage.ClaimNotification(ctx, channel, n.cfg.Holder, hold)
	if err != nil || !there {
		if err != nil && ctx.Err() == nil {
			n.cfg.Log.Error("claim a notification; it is tried again", "channel", channel, "err", err)
			rest(ctx, time.Second)
		}
		return false
	}
	// What is begun is ended, also when the server is: the receiver has it then, and the database says so.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), hold-sendTime)
	defer cancel()
	begun := time.Now()
	arrived := at.moves(sending, n.slow)
	err = n.deliver(sending, &d)
	arrived()
	n.judge(channel, time.Since(begun) >= patience)
	state, message, again := api.DeliverySent, "", time.Duration(0)
	if err != nil {
		state, message, again = api.DeliveryWaiting, err.Error(), n.cfg.Wait(d.Attempts)
		if d.Attempts >= attempts {
			state = api.DeliveryDead
		}
		n.cfg.Log.Warn("notification was not sent", "delivery", d.ID, "rule", d.Rule, "channel", channel, "attempt", d.Attempts,
			"state", state, "err", message)
	}
	n.cfg.Tried(state)
	n.end(ctx, &d, state, message, again)
	return true
}

// end says what came of an attempt, and goes on trying while the database is away: what it does not store is sent twice. A
// server that ends has a while for it.
func (n *Notifier) end(ctx context.Context, d *api.NotificationDelivery, state, message string, again time.Duration) {
	telling, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWord, giveUp) })()
	for said := false; ; said = true {
		once, cancel := context.WithTimeout(telling, sendTime)
		err := n.cfg.Storage.EndNotification(once, d.ID, n.cfg.Holder, state, message, again, d.Taken)
		cancel()
		if err == nil {
			n.cfg.Told(ctx, Of(d))
			return
		}
		if !said {
			n.cfg.Log.Warn("what came of a notification cannot be kept now; it is tried again", "delivery", d.ID, "err", err)
		}
		if !rest(telling, retell) {
			n.cfg.Log.Error("a notification may be sent twice", "delivery", d.ID, "err", err)
			return
		}
	}
}

func (n *Notifier) deliver(ctx context.Context, d *api.NotificationDelivery) error {
	channel, err := n.cfg.Storage.NotificationChannel(ctx, d.Channel)
	if err != nil {
		return fmt.Errorf("read channel %s: %w", d.Channel, err)
	}
	return n.cfg.Send(ctx, &channel, d)
}

// Try sends a message to see whether a channel works.
func (n *Notifier) Try(ctx context.Context, c *api.NotificationChannel, now time.Time) api.NotificationResult {
	e := Sample(&api.NotificationRule{Meta: api.Meta{Scope: c.Scope}}, now)
	d := &api.NotificationDelivery{
		ID: "test-" + now.UTC().Format("20060102T150405.000000"), Channel: c.ID, Scope: c.Scope, Event: *e, CreatedAt: now.UTC(),
		Title: "Slipway: a test", Text: "This is a test of channel " + c.ID + ". Nothing has happened.",
	}
	select {
	case n.tries <- struct{}{}:
		defer func() { <-n.tries }()
	case <-ctx.Done():
		return api.NotificationResult{Message: errors.New("the server is sending too much just now: try again").Error()}
	}
	if err := n.cfg.Send(ctx, c, d); err != nil {
		return api.NotificationResult{Message: err.Error()}
	}
	return api.NotificationResult{Sent: true}
}
