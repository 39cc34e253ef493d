package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
)

// list is where a kind of channels has its receivers, separated by commas, for kinds of which each receiver takes or refuses
// the message separately.
type list struct {
	// query are the names in the query of the address, the one that is written first.
	query []string
	// option is the one that counts before them.
	option string
}

// of returns the receivers of a channel, each once; none where the channel names none, or its kind has one alone.
func (l *list) of(address *url.URL, options map[string]string) (receivers []string) {
	if l == nil {
		return nil
	}
	text := options[l.option]
	if text == "" {
		for name, values := range address.Query() {
			if slices.Contains(l.query, strings.ToLower(name)) && len(values) > 0 {
				text += "," + values[0]
			}
		}
	}
	for receiver := range strings.SplitSeq(text, ",") {
		if receiver = strings.TrimSpace(receiver); receiver != "" {
			receivers = append(receivers, receiver)
		}
	}
	slices.Sort(receivers)
	return slices.Compact(receivers)
}

// to is a parcel for one receiver.
func (l *list) to(p parcel, address *url.URL, receiver string) parcel {
	query := address.Query()
	for name := range query {
		if slices.Contains(l.query, strings.ToLower(name)) {
			query.Del(name)
		}
	}
	query.Set(l.query[0], receiver)
	one := *address
	one.RawQuery = query.Encode()
	p.URL, p.Options = one.String(), maps.Clone(p.Options)
	delete(p.Options, l.option)
	return p
}

// receiverMark names a receiver in what is kept of a message, without saying who it is.
func receiverMark(d *api.NotificationDelivery, receiver string) string {
	sum := sha256.Sum256([]byte(d.ID + "\x00" + receiver))
	return hex.EncodeToString(sum[:8])
}

// sendEach sends a message to those receivers of a channel that do not have it yet, and notes who takes it. It fails unless all
// have it then.
func (s *Sender) sendEach(ctx context.Context, l *list, p parcel, address *url.URL, receivers []string, d *api.NotificationDelivery) error {
	left := slices.DeleteFunc(slices.Clone(receivers), func(r string) bool { return slices.Contains(d.Taken, receiverMark(d, r)) })
	if len(left) == 0 {
		return nil
	}
	// An attempt may be over before all have had their turn, so each attempt begins with another receiver.
	at := int(d.Attempts % int64(len(left)))
	var failure error
	failed := 0
	for _, receiver := range slices.Concat(left[at:], left[:at]) {
		err := error(errTime)
		if ctx.Err() == nil {
			err = s.couriers.send(ctx, l.to(p, address, receiver))
		}
		if err == nil {
			d.Taken = append(d.Taken, receiverMark(d, receiver))
			continue
		}
		if failed++; failure == nil {
			failure = err
		}
	}
	if failure != nil && len(receivers) > 1 {
		return fmt.Errorf("%d of %d receivers have it; of the others: %w", len(receivers)-failed, len(receivers), failure)
	}
	return failure
}
