package api

// Organization holds projects. Its id is its name, its scope its own: "org.<name>".
type Organization struct {
	Meta
}

// Project holds what a team works with. Its id is "<organization>.<name>", its scope its
// own: "project.<organization>.<name>".
type Project struct {
	Meta
	Organization string `json:"organization" maxLength:"63" doc:"Id of the organization; immutable" example:"acme"`
}
