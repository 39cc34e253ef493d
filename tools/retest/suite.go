package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// suite is one run of go test and of what has to run again.
type suite struct {
	config
	out, errs io.Writer
	book      *record

	passed, failed, skipped, flaky int
}

// target is what runs again alone: a test, a subtest that needs nothing of its siblings, or a whole package.
type target struct {
	pkg   string
	test  string // empty for the whole package
	first string // what it printed when it failed
	blame bool   // it failed itself, and was not only under way when its package ended
}

func (t target) String() string {
	if t.test == "" {
		return t.pkg + " (the package)"
	}
	return t.pkg + " " + t.test
}

func (s *suite) run(ctx context.Context) error {
	y, code, err := s.goTest(ctx, s.verbose(), append(slices.Clone(s.flags), s.packages...)...)
	if err != nil {
		return err
	}
	broken := code != 0 && !slices.ContainsFunc(y.packages, func(p *pkg) bool { return p.failed })
	if broken {
		return fmt.Errorf("go test ended with code %d and no failed package: see its message above", code)
	}
	again, rest := s.take(y)
	again, err = s.finish(ctx, again, rest)
	if err != nil {
		return err
	}
	if len(again) > maxAgain {
		fmt.Fprintf(s.out, "retest: %d tests failed, more than the %d that run again\n", len(again), maxAgain)
		s.failed += len(again)
		return s.verdict()
	}
	for _, t := range again {
		if err := s.again(ctx, t); err != nil {
			return err
		}
	}
	return s.verdict()
}

// take counts what came of a run. It returns what runs again alone, and the packages that ended before all of their tests
// had begun.
func (s *suite) take(y *tally) (again []target, rest []*pkg) {
	for _, p := range y.packages {
		for _, t := range p.order {
			switch {
			case strings.Contains(t.name, "/"):
			case t.state == passed:
				s.passed++
			case t.state == skipped:
				s.skipped++
			}
		}
		if !p.failed {
			continue
		}
		if p.build {
			s.failed++
			continue
		}
		targets := p.targets()
		if len(targets) == 0 || len(p.order) == 0 {
			targets = []target{{pkg: p.name, first: p.output.String(), blame: true}}
		} else if !p.ended {
			rest = append(rest, p)
		}
		again = append(again, targets...)
	}
	return again, rest
}

// targets lists what of a package runs again alone: the tests that failed. Where the package ended before all of its tests
// did, what they had left to do is not known, so these are whole tests, and those that were under way where none failed.
func (p *pkg) targets() []target {
	out := p.inState(failed)
	if len(out) == 0 && !p.ended {
		out = p.inState(running)
		for i := range out {
			out[i].first += p.output.String()
			out[i].blame = i == 0 // one cause, one entry
		}
	}
	return out
}

// inState lists the tests in a state, each as what can run alone.
func (p *pkg) inState(state int) []target {
	var out []target
	for _, t := range p.order {
		deeper := slices.ContainsFunc(p.order, func(o *test) bool {
			return o.state == state && strings.HasPrefix(o.name, t.name+"/")
		})
		if t.state != state || deeper {
			continue
		}
		name, _, _ := strings.Cut(t.name, "/")
		if p.ended {
			name = p.alone(t.name)
		}
		if at := slices.IndexFunc(out, func(o target) bool { return o.test == name }); at >= 0 {
			out[at].first += readable(t)
			continue
		}
		out = append(out, target{pkg: p.name, test: name, first: readable(t), blame: true})
	}
	return out
}

// alone returns the deepest test on the way to name that can run without its siblings: each level below the first has to
// be parallel for that.
func (p *pkg) alone(name string) string {
	levels := strings.Split(name, "/")
	at := levels[0]
	for _, level := range levels[1:] {
		next := at + "/" + level
		if t := p.tests[next]; t != nil {
			if !t.parallel {
				break
			}
			at = next
			continue
		}
		return at // a name with a slash in it: its level is not known
	}
	return at
}

// finish runs the tests that had not ended when their package did, but those that run again alone. It adds those of them
// that fail to what runs again.
func (s *suite) finish(ctx context.Context, again []target, rest []*pkg) ([]target, error) {
	for _, p := range rest {
		if len(again) > maxAgain {
			break
		}
		var done []string
		for _, t := range p.order {
			alone := slices.ContainsFunc(again, func(a target) bool { return a.pkg == p.name && a.test == t.name })
			if !strings.Contains(t.name, "/") && (alone || t.state == passed || t.state == skipped) {
				done = append(done, regexp.QuoteMeta(t.name))
			}
		}
		skip := "^(" + strings.Join(done, "|") + ")$"
		if user := s.last("skip"); user != "" {
			skip += "|" + user
		}
		fmt.Fprintf(s.out, "retest: %s ended early; the tests that it did not finish follow\n", p.name)
		y, code, err := s.goTest(ctx, s.verbose(), append(slices.Clone(s.flags), "-count=1", "-skip", skip, p.name)...)
		if err != nil {
			return nil, err
		}
		more, late := s.take(y)
		again = append(again, more...)
		if len(late) > 0 || code != 0 && len(more) == 0 { // it ended early again: that is no accident
			s.failed++
		}
	}
	return again, nil
}

// again runs one target alone, and counts and records what comes of it.
func (s *suite) again(ctx context.Context, t target) error {
	args := append(slices.Clone(s.flags), "-count=1")
	if t.test != "" {
		args = append(args, "-run", pattern(t.test))
	}
	fmt.Fprintf(s.out, "retest: again, alone: %s\n", t)
	y, code, err := s.goTest(ctx, s.verbose(), append(args, t.pkg)...)
	if err != nil {
		return err
	}
	ok := code == 0
	if t.test != "" {
		p := y.pkg(t.pkg)
		ok = ok && p.tests[t.test] != nil && p.tests[t.test].state == passed
	}
	switch {
	case !ok:
		s.failed++
		return nil
	case !t.blame:
		s.passed++
		return nil
	}
	s.passed++
	s.flaky++
	return s.book.add(t)
}

// pattern is what -run selects one test by.
func pattern(name string) string {
	levels := strings.Split(name, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}

// verdict prints how the run ended.
func (s *suite) verdict() error {
	over, err := s.book.print(s.out)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped, %d flaky\n", s.passed, s.failed, s.skipped, s.flaky)
	if s.failed > 0 || over {
		fmt.Fprintln(s.out, "FAIL")
		return errFailed
	}
	return nil
}
