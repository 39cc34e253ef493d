package engine

import (
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
)

// memory is what the engine keeps of an Application between two turns. Its turns change it, one after the other, each on a copy
// that it stores at its end. What is stored can be read at any time.
type memory struct {
	wanted *wanted // by the last rendering; nil before the first one

	foreseen forecast.Known          // by an engine that only looks on
	unmarked map[object.Key]unmarked // what is as wanted and has no mark

	needed   supply.Record // of the last rendering
	target   apply.Target  // of the last turn
	underway *underway     // the operation that has begun and is not over

	accounted bool                // an operation of this process was reported
	removed   []object.Key        // by a deletion
	passed    map[object.Key]bool // what the guard let a deletion of the Application take
	losses    map[object.Key]loss // what objects hold
}
