package verb

import (
	"fmt"
	"testing"
)

func TestPreviewsOfOneProjectLeavePlacesToOthers(t *testing.T) {
	t.Parallel()
	var p places
	for range maxProjectsOwn {
		if !p.take("evil") {
			t.Fatal("a project has no place")
		}
	}
	if p.take("evil") {
		t.Error("a project has more places than its share")
	}
	for i := range maxPreviews - maxProjectsOwn {
		if !p.take(fmt.Sprint("shop", i)) {
			t.Error("another project has no place")
		}
	}
	if p.take("last") {
		t.Error("there are more previews than there may be")
	}
	p.give("evil")
	if !p.take("last") {
		t.Error("a place that was given back is not free")
	}
	for range maxProjectsOwn - 1 {
		p.give("evil")
	}
	if _, kept := p.own["evil"]; kept {
		t.Error("something is kept of a project without previews")
	}
}
