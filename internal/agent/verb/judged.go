package verb

import (
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/project"
)

// meetsThere is meets for a resource as its cluster has it.
func meetsThere(judged *agentapi.JudgedProject, d declared, have map[string]any, called string) error {
	of, sole := belongs(have, d)
	return command.Meets(judged, d.kind, called, of, sole)
}

// becomes says what is wrong where a resource would not be of the project that rights were asked for.
func becomes(judged *agentapi.JudgedProject, d declared, next map[string]any, called string) error {
	if judged == nil || judged.Wanted == "" {
		return nil
	}
	if of, sole := belongs(next, d); !sole || of != judged.Wanted {
		return command.Refuse(agentapi.CodeConflict,
			"%s %s would not be of project %.80s alone, for which rights were asked: give the whole resource, with its project", d.kind,
			called, judged.Wanted)
	}
	return nil
}

func belongs(resource map[string]any, d declared) (name string, sole bool) {
	resource["kind"] = d.kind // lists leave it out
	return project.Belongs(resource)
}
