package live

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
)

// crdStore receives every CustomResourceDefinition and reports when the set of kinds may have changed. It is used by
// one reflector only, so it needs no lock.
type crdStore struct {
	generations map[string]int64
	changed     func(name string) // by the name of a definition; "" for any
}

// Add reports a new definition.
func (s *crdStore) Add(v any) error { return s.Update(v) }

// Update reports a definition at each event: that its names were accepted shows in the status alone, which bumps no
// generation.
func (s *crdStore) Update(v any) error {
	m, err := meta.Accessor(v)
	if err != nil {
		return err
	}
	s.generations[m.GetName()] = m.GetGeneration()
	s.changed(m.GetName())
	return nil
}

// Delete reports a definition that is gone.
func (s *crdStore) Delete(v any) error {
	m, err := meta.Accessor(v)
	if err != nil {
		return err
	}
	delete(s.generations, m.GetName())
	s.changed(m.GetName())
	return nil
}

// Replace reports a list that differs from what is known.
func (s *crdStore) Replace(items []any, _ string) error {
	fresh := make(map[string]int64, len(items))
	same := len(items) == len(s.generations)
	for _, item := range items {
		m, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		fresh[m.GetName()] = m.GetGeneration()
		if s.generations[m.GetName()] != m.GetGeneration() {
			same = false
		}
	}
	s.generations = fresh
	if !same {
		s.changed("")
	}
	return nil
}

// Resync has nothing to do.
func (s *crdStore) Resync() error { return nil }

func parseVersion(text string) uint64 {
	v, _ := strconv.ParseUint(text, 10, 64)
	return v
}
