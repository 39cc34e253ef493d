package delivery

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
)

const mappingColumns = "agent, argo_project, project, version, created_at, updated_at"

// readMappings reads the mappings that a query finds behind its columns.
func readMappings(ctx context.Context, t db.Tx, rest string, args ...any) ([]api.Mapping, error) {
	return db.Collect(ctx, t, "SELECT "+mappingColumns+" FROM mapping "+rest, args, func(row db.Row, m *api.Mapping) error {
		return row.Scan(&m.Agent, &m.ArgoProject, &m.Project, &m.Version, db.Instant(&m.CreatedAt), db.Instant(&m.UpdatedAt))
	})
}

func readMapping(ctx context.Context, t db.Tx, agent, argoProject string) (m api.Mapping, err error) {
	found, err := readMappings(ctx, t, "WHERE agent = ? AND argo_project = ?", agent, argoProject)
	if err == nil && len(found) == 0 {
		return m, db.ErrNotFound
	}
	if err == nil {
		m = found[0]
	}
	return m, err
}

// Mappings lists the mappings of an agent, or all where it is "".
func (s *Mapped) Mappings(ctx context.Context, agent string) ([]api.Mapping, error) {
	return db.Read(ctx, s.db, func(t db.Tx) ([]api.Mapping, error) {
		w := &db.Where{}
		w.Is("agent", agent)
		if agent != "" {
			if _, err := fleet.AgentKind().Get(ctx, t, agent); err != nil {
				return nil, err
			}
		}
		list, err := readMappings(ctx, t, w.String()+" ORDER BY agent, argo_project", w.Args...)
		return append([]api.Mapping{}, list...), err
	})
}

// SetMapping makes or changes a mapping, and moves the items of the Argo project
// to their new scope. The agent must be at the scope of the project or above.
func (s *Mapped) SetMapping(ctx context.Context, m api.Mapping) (api.Mapping, error) {
	err := s.db.Write(ctx, func(t db.Tx) error {
		id := m.Agent + "/" + m.ArgoProject
		agent, err := fleet.AgentKind().Lock(ctx, t, m.Agent)
		if err != nil {
			return err
		}
		org, project, err := api.ParseProjectID(m.Project)
		if err != nil {
			return db.Invalid("project", "%s", err)
		}
		scope := api.ProjectScope(org, project)
		if !agent.Scope.Contains(scope) {
			return db.Invalid("project", "agent %s is at %s, so what it has cannot belong to project %s: use an agent of the account, "+
				"or of that organization", agent.ID, agent.Scope, m.Project)
		}
		if m.ArgoProject == "" {
			return db.Invalid("argoProject", "a mapping is of an Argo project: name it")
		}
		if err := entity.Refers(ctx, t, "project", "project", "project", m.Project); err != nil {
			return err
		}
		before, err := readMapping(ctx, t, m.Agent, m.ArgoProject)
		switch {
		case db.IsNotFound(err) && m.Version > 1:
			return db.NotFound("mapping", id)
		case db.IsNotFound(err):
			_, err = t.Exec(ctx, "INSERT INTO mapping ("+mappingColumns+") VALUES (?, ?, ?, 1, ?, ?)", m.Agent, m.ArgoProject,
				m.Project, t.Now, t.Now)
		case err == nil && m.Version != 0 && m.Version != before.Version:
			return db.Stale("mapping", id, m.Version, before.Version)
		case err == nil:
			_, err = t.Exec(ctx, "UPDATE mapping SET project = ?, version = version + 1, updated_at = ? WHERE agent = ? AND argo_project = ?",
				m.Project, t.Now, m.Agent, m.ArgoProject)
		}
		if err != nil {
			return fmt.Errorf("set mapping %s: %w", id, err)
		}
		if err := moveItems(ctx, t, agent.UID, m.ArgoProject, scope); err != nil {
			return fmt.Errorf("move items of mapping %s: %w", id, err)
		}
		if err := relinkMoved(ctx, t, agent.UID, m.ArgoProject); err != nil {
			return err
		}
		m, err = readMapping(ctx, t, m.Agent, m.ArgoProject)
		return err
	})
	return m, err
}

// DeleteMapping deletes a mapping. What it mapped belongs to the agent's scope
// from then on.
func (s *Mapped) DeleteMapping(ctx context.Context, agent, argoProject string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		n, err := unmapped(ctx, t, "agent = ? AND argo_project = ?", agent, argoProject)
		if err == nil && n == 0 {
			return db.NotFound("mapping", agent+"/"+argoProject)
		}
		return err
	})
}

// Unmap deletes mappings.
func Unmap(ctx context.Context, t db.Tx, condition string, args ...any) error {
	_, err := unmapped(ctx, t, condition, args...)
	return err
}

func unmapped(ctx context.Context, t db.Tx, condition string, args ...any) (int64, error) {
	found, err := readMappings(ctx, t, "WHERE "+condition, args...)
	if err != nil {
		return 0, err
	}
	for _, m := range found {
		// Locked like for SetMapping and a batch of items.
		agent, err := fleet.AgentKind().Lock(ctx, t, m.Agent)
		if err != nil {
			return 0, err
		}
		if err := t.Run(ctx, "DELETE FROM mapping WHERE agent = ? AND argo_project = ?", m.Agent, m.ArgoProject); err != nil {
			return 0, err
		}
		if err := moveItems(ctx, t, agent.UID, m.ArgoProject, agent.Scope); err != nil {
			return 0, err
		}
		if err := relinkMoved(ctx, t, agent.UID, m.ArgoProject); err != nil {
			return 0, err
		}
	}
	return int64(len(found)), nil
}

// relinkMoved assigns applications again that have moved to another scope.
func relinkMoved(ctx context.Context, t db.Tx, uid, argoProject string) error {
	if err := LockLinks(ctx, t, false); err != nil {
		return err
	}
	return Relink(ctx, t, "agent = ? AND argo_project = ?", uid, argoProject)
}

// ItemScope is where an item of an Argo project of an agent belongs.
func (s *Mapped) ItemScope(ctx context.Context, agent, argoProject string) (api.Scope, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.Scope, error) {
		found, err := fleet.AgentKind().Get(ctx, t, agent)
		if err != nil {
			return "", err
		}
		places, err := ReadPlaces(ctx, t, found.ID, found.Scope)
		return places.Of(argoProject), err
	})
}

// Places is where the items of an agent belong, by Argo project.
type Places struct {
	agent  api.Scope
	mapped map[string]api.Scope
}

// Of is the scope of an Argo project.
func (p Places) Of(argoProject string) api.Scope {
	if scope, ok := p.mapped[argoProject]; ok && argoProject != "" {
		return scope
	}
	return p.agent
}

// ReadPlaces reads the mappings of an agent, by its id and scope.
func ReadPlaces(ctx context.Context, t db.Tx, agent string, scope api.Scope) (Places, error) {
	p := Places{agent: scope, mapped: map[string]api.Scope{}}
	err := t.Each(ctx, "SELECT argo_project, project FROM mapping WHERE agent = ?", []any{agent}, func(row db.Row) error {
		var argoProject, project string
		if err := row.Scan(&argoProject, &project); err != nil {
			return err
		}
		org, name, err := api.ParseProjectID(project)
		p.mapped[argoProject] = api.ProjectScope(org, name)
		return err
	})
	return p, err
}
