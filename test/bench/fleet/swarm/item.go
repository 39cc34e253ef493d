package swarm

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// items is what one agent has: its Applications, the Argo projects of the teams, repositories and its cluster. It is a
// link.Source. Bodies are made before any request, so that a storm shows the work of the server and not of this program.
type items struct {
	seed  uint64
	agent int

	mu       sync.RWMutex
	bodies   map[agentapi.Key][]byte
	versions []int // of Applications
	byKind   map[agentapi.ItemKind][]agentapi.Key
}

// newItems makes all of an agent; nodes is how many the tree of its Application Big has, 0 where it has none.
func newItems(seed uint64, agent, applications, nodes int) (*items, error) {
	s := &items{
		seed: seed, agent: agent, versions: make([]int, applications),
		bodies: make(map[agentapi.Key][]byte, applications+16), byKind: map[agentapi.ItemKind][]agentapi.Key{},
	}
	for i := range applications {
		body, err := application(seed, agent, i, 0)
		if err != nil {
			return nil, fmt.Errorf("make Application %d of agent %d: %w", i, agent, err)
		}
		s.put(applicationKey(i), body)
	}
	if nodes > 0 {
		body, err := big(seed, agent, nodes)
		if err != nil {
			return nil, fmt.Errorf("make Application %s of agent %d: %w", Big, agent, err)
		}
		s.put(agentapi.Key{Kind: agentapi.ItemApplication, Namespace: Namespace, Name: Big}, body)
	}
	for i := range Teams {
		s.put(agentapi.Key{Kind: agentapi.ItemArgoProject, Namespace: Namespace, Name: Team(i)}, fmt.Appendf(nil,
			`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":%q,"namespace":%q},"spec":{"sourceRepos":["*"],"destinations":[{"server":"*","namespace":"*"}]}}`,
			Team(i), Namespace))
		err := s.setting(agentapi.ItemRepository, "repo-"+Team(i), map[string]string{
			"url": fmt.Sprintf("https://git.example.com/%s/deploy-%d.git", Team(i), agent%8), "type": "git", "project": Team(i),
		})
		if err != nil {
			return nil, err
		}
	}
	return s, s.setting(agentapi.ItemCluster,
		"in-cluster", map[string]string{"name": "in-cluster", "server": "https://kubernetes.default.svc"})
}

func applicationKey(i int) agentapi.Key {
	return agentapi.Key{Kind: agentapi.ItemApplication, Namespace: Namespace, Name: AppName(i)}
}

func (s *items) setting(kind agentapi.ItemKind, name string, fields map[string]string) error {
	body, err := json.Marshal(agentapi.Setting{Fields: fields, Version: "1"})
	if err != nil {
		return fmt.Errorf("make %s %s: %w", kind, name, err)
	}
	s.put(agentapi.Key{Kind: kind, Namespace: Namespace, Name: name}, body)
	return nil
}

func (s *items) put(key agentapi.Key, body []byte) {
	s.bodies[key] = body
	s.byKind[key.Kind] = append(s.byKind[key.Kind], key)
}

// change makes the next version of an Application and returns its key.
func (s *items) change(i int) (agentapi.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := applicationKey(i)
	body, err := application(s.seed, s.agent, i, s.versions[i]+1)
	if err != nil {
		return key, fmt.Errorf("change Application %s of agent %d: %w", key.Name, s.agent, err)
	}
	s.versions[i]++
	s.bodies[key] = body
	return key, nil
}

// bytes returns how large the Applications are in all.
func (s *items) bytes() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sum := 0
	for _, key := range s.byKind[agentapi.ItemApplication] {
		sum += len(s.bodies[key])
	}
	return sum
}

// Keys implements link.Source.
func (s *items) Keys(kind agentapi.ItemKind) ([]agentapi.Key, bool) { return s.byKind[kind], true }

// Has implements link.Source.
func (s *items) Has(key agentapi.Key) bool { return s.Body(key) != nil }

// Body implements link.Source.
func (s *items) Body(key agentapi.Key) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bodies[key]
}
