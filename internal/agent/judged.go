package agent

import (
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Rights are asked for at the server, by its copy of what is there and by what somebody sends. What the agent finds and writes
// is compared with that, so that neither a copy that is late nor a merge makes of it something that nobody was asked about.

// meets says what is wrong where a resource that is there is not of the project that rights were asked for.
func meets(judged *agentapi.JudgedProject, kind, called, of string, sole bool) error {
	if judged == nil || judged.There == "" || sole && of == judged.There {
		return nil
	}
	return refusedAs(agentapi.CodeConflict, "%s %s has come to another project than %.80s: read it again and repeat the change", kind, called, judged.There)
}

// meetsThere is meets for a resource as its cluster has it.
func meetsThere(judged *agentapi.JudgedProject, d declared, have map[string]any, called string) error {
	of, sole := belongs(have, d)
	return meets(judged, d.kind, called, of, sole)
}

// becomes says what is wrong where a resource would not be of the project that rights were asked for.
func becomes(judged *agentapi.JudgedProject, d declared, next map[string]any, called string) error {
	if judged == nil || judged.Wanted == "" {
		return nil
	}
	if of, sole := belongs(next, d); !sole || of != judged.Wanted {
		return refusedAs(agentapi.CodeConflict, "%s %s would not be of project %.80s alone, for which rights were asked: give the whole resource, with its project", d.kind, called, judged.Wanted)
	}
	return nil
}

func belongs(resource map[string]any, d declared) (name string, sole bool) {
	resource["kind"] = d.kind // lists leave it out
	return project.Belongs(resource)
}
