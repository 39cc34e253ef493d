package sops

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoKey says that a private key is not at hand.
var ErrNoKey = errors.New("the private key is not at hand")

// KeyError says that a file is encrypted for keys that are not at hand.
type KeyError struct {
	Recipients []string // whom the file is for
	Failed     []string // why keys that could be asked for did not open it
	Have, Need int      // groups of keys that were opened, and that are needed
}

// Error names the keys, by what is public of them.
func (e *KeyError) Error() string {
	const most = 10
	list := e.Recipients
	more := ""
	if len(list) > most {
		more = fmt.Sprintf(" and %d more", len(list)-most)
		list = list[:most]
	}
	text := "it is encrypted for " + strings.Join(list, ", ") + more
	if e.Need > 1 {
		text += fmt.Sprintf(" in groups of which %d are needed; %d can be opened", e.Need, e.Have)
	} else {
		text += ", and no private key of these is at hand"
	}
	if len(e.Failed) > 0 {
		text += " (" + strings.Join(e.Failed[:min(len(e.Failed), 3)], "; ") + ")"
	}
	return text
}

// Is makes every KeyError one of ErrNoKey.
func (e *KeyError) Is(target error) bool { return target == ErrNoKey }

// dataKey opens the key that the values are encrypted with.
func (m *metadata) dataKey(ctx context.Context, ring *Ring, other Opener) ([]byte, error) {
	failure := &KeyError{Need: 1}
	if len(m.groups) > 1 {
		failure.Need = m.threshold
		if failure.Need <= 0 || failure.Need > len(m.groups) {
			failure.Need = len(m.groups)
		}
	}
	var shares [][]byte
	for _, group := range m.groups {
		share, err := openGroup(ctx, group, ring, other, failure)
		if err != nil {
			return nil, err
		}
		if share == nil {
			continue
		}
		if shares = append(shares, share); len(shares) == failure.Need {
			break
		}
	}
	failure.Have = len(shares)
	switch {
	case len(shares) < failure.Need:
		for _, group := range m.groups {
			for _, to := range group {
				failure.Recipients = append(failure.Recipients, to.String())
			}
		}
		return nil, failure
	case len(m.groups) == 1:
		return shares[0], nil
	}
	return combine(shares)
}

// openGroup opens what all keys of a group encrypt; nil where none of them is at hand.
func openGroup(ctx context.Context, group []Recipient, ring *Ring, other Opener, failure *KeyError) ([]byte, error) {
	for _, to := range group {
		share, err := ring.open(to)
		if errors.Is(err, ErrNoKey) && other != nil {
			share, err = other.OpenKey(ctx, to)
		}
		switch {
		case err == nil:
			return share, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, ErrNoKey):
			failure.Failed = append(failure.Failed, err.Error())
		default:
			failure.foreign(to)
		}
	}
	return nil, nil
}

// foreign says of a recipient that no ring can have a key for it.
func (e *KeyError) foreign(to Recipient) {
	name := to.Fields["recipient"]
	switch {
	case to.Kind != KindAge:
	case strings.HasPrefix(name, "ssh-"):
		e.Failed = append(e.Failed, "keys of SSH are not used here: add a recipient that age-keygen made")
	case strings.HasPrefix(name, "age1") && strings.Contains(name[4:], "1") && !strings.HasPrefix(name, "age1pq1"):
		e.Failed = append(e.Failed, "a recipient needs a plugin of age, which is a program, and none is run here: add one that age-keygen made")
	}
}
