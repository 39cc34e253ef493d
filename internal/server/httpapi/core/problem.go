package core

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/trace"
)

// Problem is an api.Problem for the client.
type Problem struct {
	api.Problem
	retryAfter int
}

// Error is what happened.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the status of the answer.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of problems.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders returns when to retry.
func (p *Problem) GetHeaders() http.Header {
	if p.retryAfter <= 0 {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(p.retryAfter)}}
}

// NewProblem makes the client's view of an error. What has no code is not shown.
func NewProblem(err error, requestID string) *Problem {
	var ready *Problem
	if errors.As(err, &ready) {
		return ready
	}
	e := &api.Error{
		Code:    api.CodeInternal,
		Message: "internal error: try again, and give the request id to the operator of the server; its log has the cause",
	}
	var known *api.Error
	if errors.As(err, &known) {
		e = known
	}
	status := e.Code.Status()
	out := &Problem{retryAfter: e.RetryAfter, Problem: api.Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: e.Message, Code: e.Code, RequestID: requestID, References: e.References,
	}}
	if e.Field != "" {
		out.Errors = []api.FieldProblem{{Field: e.Field, Message: e.Message}}
	}
	return out
}

// Untold reports whether an error contains more than its reader gets: that goes to the log. What has no code is a fault
// of ours; what has to come back first has a cause at times.
func Untold(err error) bool {
	switch api.CodeOf(err) {
	case api.CodeInternal:
		return true
	case api.CodeUnavailable:
		return err.Error() != NewProblem(err, "").Detail
	}
	return false
}

// fromHuma makes a problem of what the decoder found. The values themselves are left out: one may be a password.
func fromHuma(m *huma.ErrorModel, requestID string) *Problem {
	out := &Problem{Problem: api.Problem{
		Type: "about:blank", Title: http.StatusText(m.Status), Status: m.Status,
		Code: api.CodeOfStatus(m.Status), RequestID: requestID, Detail: m.Detail,
	}}
	if out.Code == api.CodeInternal {
		return NewProblem(errors.New(m.Detail), requestID)
	}
	texts := make([]string, 0, len(m.Errors))
	for _, e := range m.Errors {
		if e == nil {
			continue
		}
		out.Errors = append(out.Errors, api.FieldProblem{Field: e.Location, Message: e.Message})
		texts = append(texts, strings.TrimSpace(e.Location+" "+e.Message))
	}
	if len(texts) > 0 {
		out.Detail = "the request is not valid: " + strings.Join(texts, "; ") + ": correct it and send it again"
	}
	return out
}

// WriteProblem answers outside of an operation.
func WriteProblem(w http.ResponseWriter, err error, requestID string) {
	p := NewProblem(err, requestID)
	p.TraceID = trace.ID(w.Header().Get(trace.Header))
	for key, values := range p.GetHeaders() {
		w.Header()[key] = values
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p.Problem) // no client is left
}
