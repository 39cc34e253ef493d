package api

// LinkProposal is what an Application that belongs to no service would be linked to, from its labels, else from its name
// without the name of an environment at its end.
type LinkProposal struct {
	Application string `json:"application" doc:"<agent>/<namespace>/<name>" example:"account.prod/argocd/checkout-staging"`
	Service     string `json:"service,omitempty" doc:"Id of the service" example:"account.checkout"`
	// MakesService says that there is no such service yet.
	MakesService bool   `json:"makesService,omitempty" doc:"The service is created"`
	Environment  string `json:"environment,omitempty" doc:"Id of the environment" example:"account.staging"`
	// MakesEnvironment says that there is no such environment yet.
	MakesEnvironment bool `json:"makesEnvironment,omitempty" doc:"The environment is created"`
	// Link says that it is linked by hand, since no label does it.
	Link bool   `json:"link,omitempty" doc:"The application is linked, because its labels name nothing"`
	Why  string `json:"why" doc:"Reason for the assignment" example:"its name ends in -staging"`
}

// LinkPlan is what linking the Applications of an agent makes, or would make.
type LinkPlan struct {
	Items []LinkProposal `json:"items" doc:"One for each application that changes"`
	// Services and Environments are the ids of those that are made, sorted.
	Services     []string `json:"services" doc:"Ids of created services"`
	Environments []string `json:"environments" doc:"Ids of created environments"`
}
