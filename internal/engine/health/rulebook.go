package health

import (
	"fmt"
	"strings"
	"sync"
)

// rulebook holds what was read and compiled of the rules. Everything in it is made when it is first needed: a process
// that meets no custom kind pays for none. There is at most one entry for each file and for each entry of a file, so
// that no object can make it grow.
type rulebook struct {
	names func() map[string]bool // the files that there are

	mu    sync.RWMutex
	files map[string]*loadedFile

	compiling sync.Mutex // apart from mu: only callers that need the compiler wait for it
	compiler  *compiler
}

// bundled are the rules that come with the program.
//
//nolint:gochecknoglobals // what it holds follows from the embedded files alone
var bundled = &rulebook{names: sync.OnceValue(ruleFileNames)}

type loadedFile struct {
	text  *ruleFile
	err   error
	kinds map[string]*loadedKind
}

type loadedKind struct {
	text     kindRules
	file     *ruleFile
	compiled func() (*block, error)
}

func ruleFileNames() map[string]bool {
	out := map[string]bool{}
	entries, err := ruleFiles.ReadDir("rules")
	if err != nil {
		return out
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".yaml"); name != sharedFile {
			out[name] = true
		}
	}
	return out
}

// find returns the rules of a kind: those of its own group before those of a domain, a named kind before all kinds.
func (b *rulebook) find(group, kind string) *loadedKind {
	if group == "" {
		return nil
	}
	known := b.names()
	for name := group; ; {
		if known[name] {
			f := b.file(name)
			if k, ok := f.kinds[kind]; ok {
				return k
			}
			if k, ok := f.kinds[anyKind]; ok {
				return k
			}
		}
		_, domain, ok := strings.Cut(strings.TrimPrefix(name, "_."), ".")
		if !ok {
			return nil
		}
		name = "_." + domain
	}
}

func (b *rulebook) file(name string) *loadedFile {
	b.mu.RLock()
	f := b.files[name]
	b.mu.RUnlock()
	if f != nil {
		return f
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.files[name]; f != nil {
		return f
	}
	f = &loadedFile{kinds: map[string]*loadedKind{}}
	if f.text, f.err = readRuleFile(name); f.err == nil && f.text != nil {
		for _, entry := range f.text.Health {
			k := &loadedKind{text: entry, file: f.text}
			k.compiled = sync.OnceValues(func() (*block, error) { return b.compile(k) })
			for _, kind := range entry.Kinds {
				f.kinds[kind] = k
			}
		}
	}
	if b.files == nil {
		b.files = map[string]*loadedFile{}
	}
	b.files[name] = f
	return f
}

// compile compiles one entry at a time: a parser is not made for several.
func (b *rulebook) compile(k *loadedKind) (*block, error) {
	b.compiling.Lock()
	defer b.compiling.Unlock()
	if b.compiler == nil {
		c, err := newCompiler()
		if err != nil {
			return nil, err
		}
		b.compiler = c
	}
	return b.compiler.compileKind(k.file, k.text)
}

// judge judges an object by the rules of its kind. It reports false where they say nothing about it.
func (k *loadedKind) judge(group, kind string, obj map[string]any) (r Result, assessed bool) {
	fault := func(what any) (Result, bool) {
		return Result{Status: Unknown, Message: fmt.Sprintf("health rule of %.100s/%.100s: %v", group, kind, what)}, true
	}
	defer func() {
		if p := recover(); p != nil {
			r, assessed = fault(p)
		}
	}()
	b, err := k.compiled()
	if err != nil {
		return fault(err)
	}
	root := &scope{subject: &subject{obj: obj, group: group}, block: b}
	r, decided, err := b.judge(root)
	if err != nil {
		return fault(err)
	}
	return r, decided && r.Status != ""
}

// rulesOf finds the bundled rules of a kind; it is nil where there are none.
func rulesOf(group, kind string) *loadedKind { return bundled.find(group, kind) }

// judgesDeleted reports whether the rules have something to say about objects that are being deleted.
func (k *loadedKind) judgesDeleted() bool { return k.text.Deleting }
