package command

import "github.com/slipway-gitops/slipway/api/agentapi"

// The server checks rights, by its copy of what is there and by the content of the request. What the agent finds and writes
// is compared with that, so that neither a copy that is late nor a merge turns it into something that was not checked.

// Meets says what is wrong where a resource that is there is not of the project that rights were asked for.
func Meets(judged *agentapi.JudgedProject, kind, called, of string, sole bool) error {
	if judged == nil || judged.There == "" || sole && of == judged.There {
		return nil
	}
	return Refuse(agentapi.CodeConflict, "%s %s has come to another project than %.80s: read it again and repeat the change",
		kind, called, judged.There)
}
