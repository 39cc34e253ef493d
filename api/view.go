package api

import "time"

// View is a filter under a name: of the user who saved it, or of everyone.
type View struct {
	Name        string      `json:"name" maxLength:"63" doc:"Name" example:"degraded"`
	Everyone    bool        `json:"everyone,omitempty" doc:"Shared with everyone; requires savedview_edit to save or delete"`
	Description string      `json:"description,omitempty" maxLength:"1000" doc:"Description" example:"what needs attention"`
	Filter      FleetFilter `json:"filter" doc:"Filter of the applications"`
	CreatedAt   time.Time   `json:"createdAt,omitzero" readOnly:"true" doc:"Time of creation"`
	UpdatedAt   time.Time   `json:"updatedAt,omitzero" readOnly:"true" doc:"Time of the last change"`
}

// Views are those of the reader, and everyone's.
type Views struct {
	Items []View `json:"items" doc:"Sorted by name, your own first"`
}

// MaxViews is how many views one person may have, and how many everyone's may be.
const MaxViews = 200
