package api

import "time"

// Meta is what every entity has in common.
type Meta struct {
	// ID is made of scope and name by the server; an organization's is its name, a project's "<organization>.<project>".
	ID   string `json:"id,omitempty" readOnly:"true" doc:"Identifier, which the server derives from scope and name" example:"org.acme.prod"`
	Name string `json:"name" maxLength:"63" doc:"Lower-case letters, digits and inner hyphens; immutable" example:"prod"`
	// Scope never changes. The account where it is left out; an organization and a project are at their own.
	Scope       Scope             `json:"scope,omitempty" maxLength:"140" doc:"account, org.<organization> or project.<organization>.<project>; immutable" example:"org.acme"`
	DisplayName string            `json:"displayName,omitempty" maxLength:"200" doc:"Display name" example:"Production"`
	Description string            `json:"description,omitempty" maxLength:"2000" doc:"Description"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Labels, for resource groups and filters"`
	// Version counts the changes, from 1. An update with a version that is not the present one is refused with 409; with 0
	// it is made whatever the version.
	Version   int64     `json:"version,omitempty" doc:"Version to change; the server refuses an update of an older version with 409" example:"3"`
	CreatedAt time.Time `json:"createdAt,omitzero" readOnly:"true" doc:"Time of creation"`
	UpdatedAt time.Time `json:"updatedAt,omitzero" readOnly:"true" doc:"Time of the last change"`
}

// Base is what every entity has in common, of one whose type is not known.
func (m *Meta) Base() *Meta { return m }

// Ref names an object of the control plane.
type Ref struct {
	Type  string `json:"type" doc:"Type of the object" example:"binding"`
	ID    string `json:"id" doc:"Identifier of the object" example:"org.acme.developers"`
	Scope Scope  `json:"scope,omitempty" doc:"Scope of the object" example:"org.acme"`
}

// Page is part of a list.
type Page[T any] struct {
	Items []T `json:"items" doc:"The items, in order"`
	// NextCursor asks for what follows; "" where nothing does.
	NextCursor string `json:"nextCursor,omitempty" doc:"Pass it as ?cursor= to get the next page; missing on the last page"`
	// Total counts what the filters and rights of the reader let through; -1 where it was not counted.
	Total int64 `json:"total" doc:"Number of all visible items that match the filters"`
}

// Limits of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// ListOptions says which part of a list is wanted, in which order. Filters beside these belong to the noun.
type ListOptions struct {
	// Limit is from 1 to MaxLimit; 0 is DefaultLimit.
	Limit int
	// Cursor is the NextCursor of the page before.
	Cursor string
	// Page counts from 1 and is an alternative to Cursor: what is before it is skipped.
	Page int
	// Sort is a field, "-" before it for the other direction; "" for the noun's own order (id).
	Sort string
	// Search is a text that the name, the display name or the description contains, whatever the case.
	Search string
	// Scope keeps what is of this scope or inside it.
	Scope Scope
	// Labels keeps what has all of these labels. A value of "" asks for the key alone.
	Labels map[string]string
}

// DeleteOptions says how something is deleted.
type DeleteOptions struct {
	// Version that is deleted; 0 for any.
	Version int64
	// Force deletes also what is referred to; the references go too.
	Force bool
}
