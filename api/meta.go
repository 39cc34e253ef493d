package api

import "time"

// Meta is what every entity has in common.
type Meta struct {
	// ID is made of scope and name by the server; an organization's is its name, a project's "<organization>.<project>".
	ID   string `json:"id,omitempty" readOnly:"true" doc:"Identifier, made by the server from scope and name" example:"org.acme.prod"`
	Name string `json:"name" maxLength:"63" doc:"Lower-case letters, digits and inner hyphens; it never changes" example:"prod"`
	// Scope never changes. The account where it is left out; an organization and a project are at their own.
	Scope       Scope             `json:"scope,omitempty" maxLength:"140" doc:"account, org.<organization> or project.<organization>.<project>; it never changes" example:"org.acme"`
	DisplayName string            `json:"displayName,omitempty" maxLength:"200" doc:"Name for people" example:"Production"`
	Description string            `json:"description,omitempty" maxLength:"2000" doc:"What it is for"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Labels, by which resource groups select and lists filter"`
	// Version counts the changes, from 1. An update with a version that is not the present one is refused with 409; with 0
	// it is made whatever the version.
	Version   int64     `json:"version,omitempty" doc:"Version that is changed; an update with an older one is refused with 409" example:"3"`
	CreatedAt time.Time `json:"createdAt,omitzero" readOnly:"true" doc:"When it was made"`
	UpdatedAt time.Time `json:"updatedAt,omitzero" readOnly:"true" doc:"When it was changed last"`
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
	Items []T `json:"items" doc:"What was found, in order"`
	// NextCursor asks for what follows; "" where nothing does.
	NextCursor string `json:"nextCursor,omitempty" doc:"Give it as ?cursor= to read on; missing at the end"`
	// Total counts what the filters and rights of the reader let through; -1 where it was not counted.
	Total int64 `json:"total" doc:"How many there are in all that may be seen and pass the filters"`
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
