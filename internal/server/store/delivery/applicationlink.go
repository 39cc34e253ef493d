package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

const linkColumns = "service, environment, version, created_at, updated_at"

func scanLink(row db.Row, l *api.ApplicationLink) error {
	return row.Scan(&l.Service, &l.Environment, &l.Version, db.Instant(&l.CreatedAt), db.Instant(&l.UpdatedAt))
}

func getLink(ctx context.Context, t db.Tx, agent, namespace, name string) (*api.ApplicationLink, error) {
	query := "SELECT " + linkColumns + " FROM application_link WHERE agent = ? AND namespace = ? AND name = ?"
	link, err := db.Only(ctx, t, query, []any{agent, namespace, name}, scanLink)
	if db.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is no manual link
	}
	return &link, err
}

// GetLink says what an application is linked to. The application need not be
// there: its manual link stays.
func (s *Links) GetLink(ctx context.Context, agent, namespace, name string) (api.ApplicationLinked, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.ApplicationLinked, error) { return linkOf(ctx, t, agent, namespace, name) })
}

func linkOf(ctx context.Context, t db.Tx, agent, namespace, name string) (api.ApplicationLinked, error) {
	link, err := getLink(ctx, t, agent, namespace, name)
	if err != nil {
		return api.ApplicationLinked{}, fmt.Errorf("read link: %w", err)
	}
	out := api.ApplicationLinked{Link: link}
	a := Linkable{Namespace: namespace, Name: name}
	id := api.ItemID(agent, namespace, name)
	query := "SELECT scope, labels, destination FROM item WHERE kind = ? AND id = ?"
	err = t.One(ctx, query, []any{api.KindApplication, id}, (*string)(&a.Scope), db.Decode(&a.Labels), &a.Destination)
	if db.IsNotFound(err) {
		if link == nil {
			return out, db.NotFound("application", id)
		}
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read application: %w", err)
	}
	l, err := NewLinker(ctx, t, agent, []Linkable{a})
	if err != nil {
		return out, fmt.Errorf("read links: %w", err)
	}
	now := l.Of(a)
	out.Service, out.ServiceBy, out.Unknown = now.Service, now.serviceBy, now.unknown
	out.Environment, out.EnvironmentBy = now.Environment, now.environmentBy
	return out, nil
}

// SetLink links an application by hand. What it is linked to is of the scope of
// the application or of one around it.
func (s *Links) SetLink(ctx context.Context, agent, namespace, name string, link api.ApplicationLink) (api.ApplicationLinked, error) {
	return db.Write(ctx, s.db, func(t db.Tx) (out api.ApplicationLinked, err error) {
		if err := LockLinks(ctx, t, true); err != nil {
			return out, err
		}
		if err := setLink(ctx, t, agent, namespace, name, link); err != nil {
			return out, err
		}
		return linkOf(ctx, t, agent, namespace, name)
	})
}

func setLink(ctx context.Context, t db.Tx, agent, namespace, name string, link api.ApplicationLink) error {
	id := api.ItemID(agent, namespace, name)
	var scope api.Scope
	err := t.One(ctx, "SELECT scope FROM item WHERE kind = ? AND id = ?", []any{api.KindApplication, id}, (*string)(&scope))
	if db.IsNotFound(err) {
		return db.NotFound("application", id)
	}
	if err != nil {
		return fmt.Errorf("read application: %w", err)
	}
	if link.Service == "" && link.Environment == "" {
		return db.Invalid("service", "a link is to a service or an environment: name one, or delete the link")
	}
	if err := errors.Join(linkTo(ctx, t, "service", link.Service, scope), linkTo(ctx, t, "environment", link.Environment, scope)); err != nil {
		return err
	}
	before, err := getLink(ctx, t, agent, namespace, name)
	switch {
	case err != nil:
	case before == nil && link.Version > 1:
		return db.NotFound("link", id)
	case before == nil:
		_, err = t.Exec(ctx, "INSERT INTO application_link (agent, namespace, name, "+linkColumns+") VALUES (?, ?, ?, ?, ?, 1, ?, ?)",
			agent, namespace, name, link.Service, link.Environment, t.Now, t.Now)
	case link.Version != 0 && link.Version != before.Version:
		return db.Stale("link", id, link.Version, before.Version)
	default:
		_, err = t.Exec(ctx, "UPDATE application_link SET service = ?, environment = ?, version = version + 1, updated_at = ? WHERE agent = ? "+
			"AND namespace = ? AND name = ?",
			link.Service, link.Environment, t.Now, agent, namespace, name)
	}
	if err != nil {
		return fmt.Errorf("link application %s: %w", id, err)
	}
	return Relink(ctx, t, "id = ?", id)
}

// linkTo checks what an application is to be linked to, unless it is nothing.
func linkTo(ctx context.Context, t db.Tx, noun, id string, scope api.Scope) error {
	if id == "" {
		return nil
	}
	if err := entity.Refers(ctx, t, noun, noun, noun, id); err != nil {
		return err
	}
	if !reaches(id, scope) {
		return db.Invalid(noun, "the application is at %s, which %s %s does not reach: choose one of that scope or of one around it", scope, noun,
			id)
	}
	return nil
}

// DeleteLink deletes the manual link of an application.
func (s *Links) DeleteLink(ctx context.Context, agent, namespace, name string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		if err := LockLinks(ctx, t, true); err != nil {
			return err
		}
		id := api.ItemID(agent, namespace, name)
		err := t.Change(ctx, "link", id, "DELETE FROM application_link WHERE agent = ? AND namespace = ? AND name = ?", agent, namespace, name)
		if err != nil {
			return fmt.Errorf("delete link of application %s: %w", id, err)
		}
		return Relink(ctx, t, "id = ?", id)
	})
}
