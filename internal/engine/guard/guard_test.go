package guard

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func crd(name string) object.Key {
	return object.Key{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: name}
}

func config(ns, name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: ns, Name: name}
}

func TestNoLeaveIsNoneThatTheGuardMade(t *testing.T) {
	t.Parallel()
	if err := (Leave{}).Check(config("shop", "a")); err == nil {
		t.Error("the zero Leave lets something go")
	}
	l := JudgeSync(Sync{Deletions: []object.Key{config("shop", "a")}, Total: 1, Budget: plan.Budget{Objects: 1}}).Leave
	if l.Check(config("shop", "a")) != nil || l.Covers(config("shop", "b")) || l.Covers(config("other", "a")) {
		t.Errorf("%+v", l)
	}
}

func TestWhatASyncDeletesIsJudgedByTheBudget(t *testing.T) {
	t.Parallel()
	keys := []object.Key{config("shop", "a"), config("shop", "b")}
	small := plan.Budget{Objects: 1}
	for name, c := range map[string]struct {
		s    Sync
		held bool
	}{
		"within it":                      {Sync{Deletions: keys, Total: 9, Budget: plan.Budget{Objects: 2}}, false},
		"more than it":                   {Sync{Deletions: keys, Total: 9, Budget: small}, true},
		"confirmed":                      {Sync{Deletions: keys, Total: 9, Budget: small, Confirmed: plan.Digest(keys)}, false},
		"another plan confirmed":         {Sync{Deletions: keys, Total: 9, Budget: small, Confirmed: plan.Digest(keys[:1])}, true},
		"begun":                          {Sync{Deletions: keys, Total: 9, Budget: small, Begun: true}, false},
		"a definition, whatever it says": {Sync{Deletions: []object.Key{crd("a.b")}, Total: 9, Budget: plan.Budget{Objects: 9}}, true},
	} {
		v := JudgeSync(c.s)
		if (v.Held != "") != c.held || v.Leave.Covers(c.s.Deletions[0]) == c.held {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestWhatGoesWithAnApplicationIsJudgedObjectByObject(t *testing.T) {
	t.Parallel()
	team := object.Key{Kind: "Namespace", Name: "team"}
	claim := object.Key{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	widget := object.Key{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "own"}
	planOf := func(asked ...object.Key) string { return Cascade{App: "web"}.digest(asked) }
	three := Loss{Count: 3, Examples: []object.Key{config("team-b", "x")}}
	for name, c := range map[string]struct {
		c                   Cascade
		goes, stays, waits  string // names
		kept, held, digests string // what is said; digests: "" for no plan
	}{
		"objects of its own go, however many":          {c: Cascade{Members: []Member{{Key: config("shop", "a")}, {Key: claim}, {Key: team}}}, goes: "a data team"},
		"a definition stays":                           {c: Cascade{Members: []Member{{Key: crd("d")}}}, stays: "d", kept: "stays unless it has the sync option Delete=true itself"},
		"and says what it holds":                       {c: Cascade{Members: []Member{{Key: crd("d"), Loss: three}}}, stays: "d", kept: "3 objects that would go with it (ConfigMap team-b/x and 2 more)"},
		"the Application's Delete=true is not its own": {c: Cascade{Delete: object.ConsentGiven, Members: []Member{{Key: crd("d")}}}, stays: "d"},
		"that of the definition is":                    {c: Cascade{Members: []Member{{Key: crd("d"), Delete: object.ConsentGiven}}}, goes: "d"},
		"but not while it holds objects of others": {
			c:     Cascade{Members: []Member{{Key: crd("d"), Delete: object.ConsentGiven, Loss: three}, {Key: config("shop", "a")}}},
			waits: "d", held: "CustomResourceDefinition.apiextensions.k8s.io d holds 3 objects", digests: planOf(crd("d")),
		},
		"and not where that is unknown": {
			c:     Cascade{Members: []Member{{Key: team, Loss: Loss{Err: errors.New("it does not answer")}}}},
			waits: "team", held: "it does not answer", digests: planOf(team),
		},
		"unless it is confirmed": {c: Cascade{Confirmed: planOf(team), Members: []Member{{Key: team, Loss: three}}}, goes: "team"},
		"what was confirmed for a sync is not enough": {
			c: Cascade{Confirmed: plan.Digest([]object.Key{team}), Members: []Member{{Key: team, Loss: three}}}, waits: "team", digests: planOf(team),
		},
		"a definition with an object of its kind that is to stay": {
			c: Cascade{Members: []Member{
				{Key: crd("widgets.example.com"), Delete: object.ConsentGiven}, {Key: widget, Delete: object.ConsentDenied},
			}},
			stays: "own", waits: "widgets.example.com", held: "1 object that would go with it (Widget.example.com shop/own)", digests: planOf(crd("widgets.example.com")),
		},
		"or was, in an earlier turn": {
			c: Cascade{Members: []Member{{Key: team, Loss: three, Passed: true}, {Key: config("shop", "a")}}}, goes: "team a",
		},
		"Delete=false stays":                  {c: Cascade{Members: []Member{{Key: config("shop", "a"), Delete: object.ConsentDenied}}}, stays: "a", kept: "Delete=false"},
		"that of the Application as well":     {c: Cascade{Delete: object.ConsentDenied, Members: []Member{{Key: config("shop", "a")}}}, stays: "a"},
		"what the project does not permit":    {c: Cascade{Members: []Member{{Key: config("shop", "a"), Outside: errors.New("not permitted")}}}, stays: "a", kept: "not permitted"},
		"Delete=confirm waits, with the rest": {c: Cascade{Members: []Member{{Key: config("shop", "a"), Delete: object.ConsentAsked}, {Key: claim}}}, waits: "a", held: "ConfigMap shop/a must be confirmed"},
		"Prune=confirm as well":               {c: Cascade{Prune: object.ConsentAsked, Members: []Member{{Key: config("shop", "a")}}}, waits: "a"},
		"approved as in Argo CD":              {c: Cascade{Approved: true, Members: []Member{{Key: config("shop", "a"), Delete: object.ConsentAsked}}}, goes: "a"},
		"an approval is not for what is lost": {
			c: Cascade{Approved: true, Members: []Member{{Key: team, Loss: three}}}, waits: "team", digests: planOf(team),
		},
		"a namespace with what is to stay": {
			c:     Cascade{Members: []Member{{Key: team}, {Key: config("team", "a"), Delete: object.ConsentDenied}}},
			stays: "a", waits: "team", held: "1 object that would go with it (ConfigMap team/a)", digests: planOf(team),
		},
	} {
		c.c.App = "web"
		p := JudgeCascade(c.c)
		var goes, stays, waits, kept []string
		for _, m := range c.c.Members {
			if p.Leave.Covers(m.Key) {
				goes = append(goes, m.Key.Name)
			}
		}
		for _, k := range p.Kept {
			stays, kept = append(stays, k.Key.Name), append(kept, k.Why)
		}
		if p.Held != "" {
			for _, k := range p.Asked {
				waits = append(waits, k.Name)
			}
		}
		if strings.Join(goes, " ") != c.goes || strings.Join(stays, " ") != c.stays || strings.Join(waits, " ") != c.waits {
			t.Errorf("%s: goes %v, stays %v, waits %v (%s)", name, goes, stays, waits, p.Held)
		}
		if !strings.Contains(strings.Join(kept, "\n"), c.kept) || !strings.Contains(p.Held, c.held) {
			t.Errorf("%s: %q, %q", name, kept, p.Held)
		}
		if p.Held != "" && (c.digests != "") != strings.Contains(p.Held, "(plan "+p.Digest+")") || c.digests != "" && p.Digest != c.digests {
			t.Errorf("%s: plan %s: %q", name, p.Digest, p.Held)
		}
	}
}

func TestWhatHoldsObjectsOfOthersGoesNeitherAsAHookNorByName(t *testing.T) {
	t.Parallel()
	held := Loss{Count: 1, Examples: []object.Key{config("other", "x")}}
	if _, err := JudgeHook(crd("d"), held); err == nil || !strings.Contains(err.Error(), "ConfigMap other/x") {
		t.Errorf("a hook: %v", err)
	}
	if l, err := JudgeHook(crd("d"), Loss{}); err != nil || !l.Covers(crd("d")) {
		t.Errorf("an empty hook: %v", err)
	}
	if _, err := JudgeObject(crd("d"), object.ConsentUnset, held); err == nil || !strings.Contains(err.Error(), "Delete=true") {
		t.Errorf("by name: %v", err)
	}
	if l, err := JudgeObject(crd("d"), object.ConsentGiven, held); err != nil || !l.Covers(crd("d")) {
		t.Errorf("by name, with its own word: %v", err)
	}
}

func TestNoObjectThatTakesOthersWithItIsDeletedToBeCreatedAgain(t *testing.T) {
	t.Parallel()
	for _, k := range []object.Key{
		crd("d"),
		{Kind: "Namespace", Name: "n"},
		{Kind: "PersistentVolume", Name: "v"},
		{Kind: "PersistentVolumeClaim", Namespace: "n", Name: "v"},
		{Group: "argoproj.io", Kind: "Application", Namespace: "argocd", Name: "child"},
		{Group: "argoproj.io", Kind: "ApplicationSet", Namespace: "argocd", Name: "all"},
	} {
		if l, err := JudgeReplacement(k); err == nil || l.Covers(k) {
			t.Errorf("%s would be deleted to be created again", k)
		}
	}
	if l, err := JudgeReplacement(config("shop", "a")); err != nil || !l.Covers(config("shop", "a")) {
		t.Errorf("a ConfigMap: %v", err)
	}
}
