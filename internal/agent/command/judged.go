package command

import "github.com/slipway-gitops/slipway/api/agentapi"

// Rights are asked for at the server, by its copy of what is there and by what somebody sends. What the agent finds and writes
// is compared with that, so that neither a copy that is late nor a merge makes of it something that nobody was asked about.

// Meets says what is wrong where a resource that is there is not of the project that rights were asked for.
func Meets(judged *agentapi.JudgedProject, kind, called, of string, sole bool) error {
	if judged == nil || judged.There == "" || sole && of == judged.There {
		return nil
	}
	return Refuse(agentapi.CodeConflict, "%s %s has come to another project than %.80s: read it again and repeat the change", kind, called, judged.There)
}
