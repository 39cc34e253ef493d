package archtest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An avoided word is one that the documentation does not use, and what to write instead.
type avoided struct {
	pattern *regexp.Regexp
	instead string
}

// avoid matches whole words, in any case.
func avoid(words, instead string) avoided {
	return avoided{regexp.MustCompile(`(?i)\b(?:` + words + `)\b`), instead}
}

// avoidedWords is the table of docs/reference/glossary.md, in patterns.
var avoidedWords = []avoided{
	avoid(`somebody|nobody|anybody|everybody|whoever|whosoever`, "name the actor: the user, the agent, an administrator"),
	avoid(`(?:by|for|from|of|to|than|is|are) who`, "name the actor: the user, the agent, an administrator"),
	avoid(`anew`, "again"),
	avoid(`tell|tells|telling|told|untold`, "report, send, notify, or show"),
	avoid(`mend|mends|mended|mending`, "fix, fixed"),
	avoid(`said`, "stated, set, reported"),
	avoid(`on (?:its|their) way`, "rolling out, being sent"),
	avoid(`meanwhile`, "in the meantime, until then"),
	avoid(`nevertheless|all the same`, "still, anyway"),
	avoid(`at once`, "immediately, or how long"),
	avoid(`of itself|by itself|by themselves`, "automatically"),
	avoid(`counts? for nothing|do(?:es)? not count`, "is ignored"),
	avoid(`likewise`, "also, in the same way"),
	avoid(`what for`, "state the purpose in the first sentence"),
	avoid(`1 (?:agents|applications|changes|clusters|commits|errors|events|objects|pods|resources|servers|things)`,
		"the singular after 1"),
}

// riddle is a heading that asks instead of naming its subject or task.
var riddle = regexp.MustCompile(`^#+ (?:What|How|Who|When|Until|Which|Whose) `)

// fence begins and ends a block of code.
const fence = "```"

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	address    = regexp.MustCompile(`\]\([^)]*\)`)
)

// proseOf is the text of a page with code, addresses of links and tables of codes blanked. Lines keep their numbers.
func proseOf(text string) []string {
	lines, inCode := strings.Split(text, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			inCode, lines[i] = !inCode, ""
			continue
		}
		if inCode || strings.HasPrefix(line, "    ") {
			lines[i] = ""
			continue
		}
		line = inlineCode.ReplaceAllString(line, "`code`")
		lines[i] = address.ReplaceAllString(line, "]")
	}
	return lines
}

// faults lists the avoided words and the headings of a page that ask.
func faults(text string) (found []string) {
	for i, line := range proseOf(text) {
		if riddle.MatchString(line) {
			found = append(found, fmt.Sprintf("%d: heading %q: use a noun or a task", i+1, line))
		}
		for _, word := range avoidedWords {
			for _, hit := range word.pattern.FindAllString(line, -1) {
				found = append(found, fmt.Sprintf("%d: %q: write %s", i+1, hit, word.instead))
			}
		}
	}
	return found
}

// history are pages that keep their wording.
func history(name string) bool { return strings.HasPrefix(name, "docs/adr/") }

// TestPagesArePlainEnglish keeps to the words of docs/reference/glossary.md, which lists the avoided ones and may name them.
func TestPagesArePlainEnglish(t *testing.T) {
	t.Parallel()
	changes, err := filepath.Glob(filepath.Join(root, "changelog/unreleased/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := append(pages(t), "SECURITY.md")
	for _, name := range changes {
		names = append(names, strings.TrimPrefix(filepath.ToSlash(name), root+"/"))
	}
	for _, name := range names {
		if history(name) || name == "docs/reference/glossary.md" {
			continue
		}
		for _, fault := range faults(textOf(t, name)) {
			t.Errorf("%s:%s", name, fault)
		}
	}
}

func TestUnplainEnglishIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
	}{
		{"The agent applies the object again.", 0},
		{"Nothing waits for somebody.", 1},
		{"Not told of anew, and mended meanwhile.", 4},
		{"1 applications cannot be reached", 1},
		{"11 applications are unreachable", 0},
		{"## What is kept where", 1},
		{"## Roll back an application", 0},
		{"`slipway tell` and [a page](told.md)", 0},
		{fence + "\nit is told at once\n" + fence, 0},
	} {
		if got := faults(c.text); len(got) != c.want {
			t.Errorf("%q: found %q, want %d", c.text, got, c.want)
		}
	}
}
