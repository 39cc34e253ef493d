package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// command is one simple command and the operator before it.
type command struct {
	after     string // ";", "&&" or "||"
	words     []word
	redirects []redirect
}

// word is a word of a command, in parts.
type word []part

// part is text of a word, or with variable set the name of a variable.
type part struct {
	text     string
	variable bool
}

func (w word) expand(variable func(string) string) string {
	var out strings.Builder
	for _, p := range w {
		if p.variable {
			out.WriteString(variable(p.text))
		} else {
			out.WriteString(p.text)
		}
	}
	return out.String()
}

// redirect sends one stream, 1 or 2, elsewhere.
type redirect struct {
	from int
	to   string // "&1", "&2" or the name of a file
}

func (r redirect) target(std streams) (io.Writer, error) {
	switch r.to {
	case "&1":
		return std.out, nil
	case "&2":
		return std.err, nil
	case "/dev/null":
		return io.Discard, nil
	}
	return nil, fmt.Errorf("cannot create %s: Read-only file system", r.to)
}

// parser reads a text of commands.
type parser struct {
	rest string
	done []command
	now  command
}

// parse reads commands with ;, &&, ||, new lines, quotes, variables and
// redirections of 1 and 2. All else that shells can is an error.
func parse(text string) ([]command, error) {
	p := &parser{rest: text, now: command{after: ";"}}
	for p.rest != "" {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if p.empty() && p.now.after != ";" {
		return nil, fmt.Errorf("nothing after %s", p.now.after)
	}
	if err := p.end(";"); err != nil {
		return nil, err
	}
	return p.done, nil
}

func (p *parser) empty() bool { return len(p.now.words) == 0 && len(p.now.redirects) == 0 }

// end ends the present command; the next one comes after operator.
func (p *parser) end(operator string) error {
	switch {
	case !p.empty():
		p.done = append(p.done, p.now)
	case operator != ";" || p.now.after != ";":
		return fmt.Errorf("nothing before %s", operator)
	}
	p.now = command{after: operator}
	return nil
}

// next reads one thing: space, an operator, a redirection or a word.
func (p *parser) next() error {
	switch {
	case strings.HasPrefix(p.rest, "&&"), strings.HasPrefix(p.rest, "||"):
		operator := p.rest[:2]
		p.rest = p.rest[2:]
		return p.end(operator)
	case strings.ContainsRune(";\n", rune(p.rest[0])):
		p.rest = p.rest[1:]
		return p.end(";")
	case strings.ContainsRune(" \t\r", rune(p.rest[0])):
		p.rest = p.rest[1:]
		return nil
	case p.rest[0] == '#':
		_, p.rest, _ = strings.Cut(p.rest, "\n")
		return p.end(";")
	case strings.HasPrefix(p.rest, ">"):
		return p.redirect(1, p.rest[1:])
	case strings.HasPrefix(p.rest, "1>"):
		return p.redirect(1, p.rest[2:])
	case strings.HasPrefix(p.rest, "2>"):
		return p.redirect(2, p.rest[2:])
	case strings.ContainsRune("&|<()`", rune(p.rest[0])):
		return fmt.Errorf("%q is not known here", p.rest[0])
	}
	w, err := p.word()
	p.now.words = append(p.now.words, w)
	return err
}

func (p *parser) redirect(from int, rest string) error {
	p.rest = strings.TrimLeft(strings.TrimPrefix(rest, ">"), " \t")
	for _, copied := range []string{"&1", "&2"} {
		if after, ok := strings.CutPrefix(p.rest, copied); ok {
			p.rest = after
			p.now.redirects = append(p.now.redirects, redirect{from, copied})
			return nil
		}
	}
	w, err := p.word()
	if err != nil {
		return err
	}
	name := w.expand(func(string) string { return "" })
	if name == "" {
		return errors.New("> needs a name")
	}
	p.now.redirects = append(p.now.redirects, redirect{from, name})
	return nil
}

// word reads up to what ends a word.
func (p *parser) word() (word, error) {
	var w word
	for p.rest != "" && !strings.ContainsRune(" \t\r\n;&|<>()`", rune(p.rest[0])) {
		switch c := p.rest[0]; c {
		case '\'':
			text, after, closed := strings.Cut(p.rest[1:], "'")
			if !closed {
				return nil, errors.New("a quote is not closed")
			}
			w, p.rest = append(w, part{text: text}), after
		case '"':
			p.rest = p.rest[1:]
			quoted, err := p.quoted()
			if err != nil {
				return nil, err
			}
			w = append(w, quoted...)
		default:
			w = append(w, p.plain())
		}
	}
	return w, nil
}

// quoted reads up to the closing double quote.
func (p *parser) quoted() (word, error) {
	w := word{{}}
	for p.rest != "" {
		if p.rest[0] == '"' {
			p.rest = p.rest[1:]
			return w, nil
		}
		w = append(w, p.plain())
	}
	return nil, errors.New("a quote is not closed")
}

// plain reads one character, escaped or not, or a variable.
func (p *parser) plain() part {
	switch {
	case p.rest[0] == '\\' && len(p.rest) > 1:
		text := p.rest[1:2]
		p.rest = p.rest[2:]
		return part{text: text}
	case strings.HasPrefix(p.rest, "$?"):
		p.rest = p.rest[2:]
		return part{text: "?", variable: true}
	case p.rest[0] == '$':
		name, braced := strings.CutPrefix(p.rest[1:], "{")
		length := 0
		for length < len(name) && isName(name[length]) {
			length++
		}
		switch {
		case length > 0 && braced && length < len(name) && name[length] == '}':
			p.rest = name[length+1:]
			return part{text: name[:length], variable: true}
		case length > 0 && !braced:
			p.rest = name[length:]
			return part{text: name[:length], variable: true}
		}
	}
	text := p.rest[:1]
	p.rest = p.rest[1:]
	return part{text: text}
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
