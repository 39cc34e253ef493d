package api

import "time"

// View is a filter under a name: of whoever saved it, or of everyone.
type View struct {
	Name        string      `json:"name" maxLength:"63" doc:"Name" example:"degraded"`
	Everyone    bool        `json:"everyone,omitempty" doc:"It is everyone's; to save or delete such a one takes savedview_edit"`
	Description string      `json:"description,omitempty" maxLength:"1000" doc:"What it is for" example:"what needs somebody"`
	Filter      FleetFilter `json:"filter" doc:"Which applications are in it"`
	CreatedAt   time.Time   `json:"createdAt,omitzero" readOnly:"true" doc:"When it was made"`
	UpdatedAt   time.Time   `json:"updatedAt,omitzero" readOnly:"true" doc:"When it was changed last"`
}

// Views are those of the reader, and everyone's.
type Views struct {
	Items []View `json:"items" doc:"By name, one's own first"`
}

// MaxViews is how many views one person may have, and how many everyone's may be.
const MaxViews = 200
