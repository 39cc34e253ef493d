package chaos

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// soakWrites is the number of writes of a sync at most: a sync that has more would be disturbed for ever.
const soakWrites = 100

// TestASyncIsDoneOnceWhicheverWriteIsDisturbed disturbs every write of every story in every way, before it is done and
// after. It takes hours: SLIPWAY_SOAK_ROUNDS turns it on, and SLIPWAY_SOAK_DISTURBANCES names the ways, by parts of their
// names with commas between them; all of them where it is empty.
func TestASyncIsDoneOnceWhicheverWriteIsDisturbed(t *testing.T) {
	if os.Getenv("SLIPWAY_SOAK_ROUNDS") == "" {
		t.Skip("it takes hours: run it by `make soak`")
	}
	for _, d := range []disturbance{agentKilled(), serverKilled(), bothKilled(), leaseLost()} {
		if !chosen(d.name) {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			on := place{}
			if d.server {
				on = onPrivate(t)
			} else {
				on = onShared(t)
			}
			var tried atomic.Int64
			t.Cleanup(func() { t.Logf("%s at %d writes", d.name, tried.Load()) })
			for _, s := range stories() {
				for _, before := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s/before is %t", s.name, before), func(t *testing.T) {
						if !d.server {
							t.Parallel()
						}
						for n := range soakWrites {
							hit := false
							ok := t.Run(fmt.Sprintf("write %d", n), func(t *testing.T) {
								hit = disturb(t, on, s, d, before, func(at int, _ write) bool { return at == n })
							})
							if !hit && ok {
								return // it has no more
							}
							tried.Add(1)
						}
						t.Errorf("there are more than %d writes", soakWrites)
					})
				}
			}
		})
	}
}

func chosen(name string) bool {
	ways := os.Getenv("SLIPWAY_SOAK_DISTURBANCES")
	if ways == "" {
		return true
	}
	for way := range strings.SplitSeq(ways, ",") {
		if way = strings.TrimSpace(way); way != "" && strings.Contains(name, way) {
			return true
		}
	}
	return false
}
