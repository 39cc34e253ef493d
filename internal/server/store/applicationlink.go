package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
)

const linkColumns = "service, environment, version, created_at, updated_at"

func scanLink(l *api.ApplicationLink) []any {
	return []any{&l.Service, &l.Environment, &l.Version, instant(&l.CreatedAt), instant(&l.UpdatedAt)}
}

func getLink(ctx context.Context, t tx, agent, namespace, name string) (*api.ApplicationLink, error) {
	var link api.ApplicationLink
	query := "SELECT " + linkColumns + " FROM application_link WHERE agent = ? AND namespace = ? AND name = ?"
	err := t.one(ctx, query, []any{agent, namespace, name}, scanLink(&link)...)
	if isNotFound(err) {
		return nil, nil //nolint:nilnil // nobody has said anything
	}
	return &link, err
}

// GetLink says what an application is linked to. The application need not be
// there: what somebody has said of it stays.
func (s *Store) GetLink(ctx context.Context, agent, namespace, name string) (out api.ApplicationLinked, err error) {
	err = s.read(ctx, func(t tx) error {
		out, err = linkOf(ctx, t, agent, namespace, name)
		return err
	})
	return out, err
}

func linkOf(ctx context.Context, t tx, agent, namespace, name string) (api.ApplicationLinked, error) {
	link, err := getLink(ctx, t, agent, namespace, name)
	if err != nil {
		return api.ApplicationLinked{}, fmt.Errorf("read link: %w", err)
	}
	out := api.ApplicationLinked{Link: link}
	a := linkable{namespace: namespace, name: name}
	id := api.ItemID(agent, namespace, name)
	query := "SELECT scope, labels, destination FROM item WHERE kind = ? AND id = ?"
	err = t.one(ctx, query, []any{api.KindApplication, id}, (*string)(&a.scope), decode(&a.labels), &a.destination)
	if isNotFound(err) {
		if link == nil {
			return out, notFound("application", id)
		}
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read application: %w", err)
	}
	l, err := newLinker(ctx, t, agent, []linkable{a})
	if err != nil {
		return out, fmt.Errorf("read links: %w", err)
	}
	now := l.of(a)
	out.Service, out.ServiceBy, out.Unknown = now.service, now.serviceBy, now.unknown
	out.Environment, out.EnvironmentBy = now.environment, now.environmentBy
	return out, nil
}

// SetLink links an application by hand. What it is linked to is of the scope of
// the application or of one around it.
func (s *Store) SetLink(ctx context.Context, agent, namespace, name string, link api.ApplicationLink) (out api.ApplicationLinked, err error) {
	err = s.write(ctx, func(t tx) error {
		if err := lockLinks(ctx, t, true); err != nil {
			return err
		}
		if err := setLink(ctx, t, agent, namespace, name, link); err != nil {
			return err
		}
		out, err = linkOf(ctx, t, agent, namespace, name)
		return err
	})
	return out, err
}

func setLink(ctx context.Context, t tx, agent, namespace, name string, link api.ApplicationLink) error {
	id := api.ItemID(agent, namespace, name)
	var scope api.Scope
	err := t.one(ctx, "SELECT scope FROM item WHERE kind = ? AND id = ?", []any{api.KindApplication, id}, (*string)(&scope))
	if isNotFound(err) {
		return notFound("application", id)
	}
	if err != nil {
		return fmt.Errorf("read application: %w", err)
	}
	if link.Service == "" && link.Environment == "" {
		return invalid("service", "a link is to a service or an environment: name one, or delete the link")
	}
	if err := errors.Join(linkTo(ctx, t, "service", link.Service, scope), linkTo(ctx, t, "environment", link.Environment, scope)); err != nil {
		return err
	}
	before, err := getLink(ctx, t, agent, namespace, name)
	switch {
	case err != nil:
	case before == nil && link.Version > 1:
		return notFound("link", id)
	case before == nil:
		_, err = t.exec(ctx, "INSERT INTO application_link (agent, namespace, name, "+linkColumns+") VALUES (?, ?, ?, ?, ?, 1, ?, ?)",
			agent, namespace, name, link.Service, link.Environment, t.now, t.now)
	case link.Version != 0 && link.Version != before.Version:
		return stale("link", id, link.Version, before.Version)
	default:
		_, err = t.exec(ctx, "UPDATE application_link SET service = ?, environment = ?, version = version + 1, updated_at = ? WHERE agent = ? AND namespace = ? AND name = ?",
			link.Service, link.Environment, t.now, agent, namespace, name)
	}
	if err != nil {
		return fmt.Errorf("link application %s: %w", id, err)
	}
	return relink(ctx, t, "id = ?", id)
}

// linkTo checks what an application is to be linked to, unless it is nothing.
func linkTo(ctx context.Context, t tx, noun, id string, scope api.Scope) error {
	if id == "" {
		return nil
	}
	if err := refers(ctx, t, noun, noun, noun, id); err != nil {
		return err
	}
	if !reaches(id, scope) {
		return invalid(noun, "the application is at %s, which %s %s does not reach: choose one of that scope or of one around it", scope, noun, id)
	}
	return nil
}

// DeleteLink deletes what somebody has said of an application.
func (s *Store) DeleteLink(ctx context.Context, agent, namespace, name string) error {
	return s.write(ctx, func(t tx) error {
		if err := lockLinks(ctx, t, true); err != nil {
			return err
		}
		id := api.ItemID(agent, namespace, name)
		n, err := t.exec(ctx, "DELETE FROM application_link WHERE agent = ? AND namespace = ? AND name = ?", agent, namespace, name)
		if err != nil {
			return fmt.Errorf("delete link of application %s: %w", id, err)
		}
		if n == 0 {
			return notFound("link", id)
		}
		return relink(ctx, t, "id = ?", id)
	})
}
