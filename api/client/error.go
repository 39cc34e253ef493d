package client

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// Error is why a request came to nothing. api.CodeOf returns its kind.
type Error struct {
	// Err is the server's error, or that of the connection to it.
	Err *api.Error
	// Status of the answer; 0 where there was none.
	Status int
	// RequestID names the request in the server's log; "" where there was no answer.
	RequestID string
	// Fields are what is wrong with which part of the input.
	Fields []api.FieldProblem
	Server string

	cause error
}

// Error says what happened and what to do next.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Message)
	for _, f := range e.Fields {
		if !strings.Contains(e.Err.Message, f.Message) {
			fmt.Fprintf(&b, "; %s: %s", strings.TrimPrefix(f.Field, "body."), f.Message)
		}
	}
	b.WriteString(e.usedBy())
	if e.Err.Code == api.CodeInternal && e.RequestID != "" {
		b.WriteString(" (request " + e.RequestID + ")")
	}
	return b.String()
}

// usedBy names what stands in the way, unless the message has done so.
func (e *Error) usedBy() string {
	var names []string
	for i, ref := range e.Err.References {
		if strings.Contains(e.Err.Message, ref.ID) {
			return ""
		}
		if i == maxReferences {
			names = append(names, fmt.Sprintf("and %d more", len(e.Err.References)-i))
			break
		}
		names = append(names, ref.Type+" "+ref.ID)
	}
	if len(names) == 0 {
		return ""
	}
	return "; it is used by " + strings.Join(names, ", ")
}

// maxReferences is how many references a message names.
const maxReferences = 10

// Unwrap gives the error with the code, and what lies below it.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.cause}
}

// refusal makes an error of an answer that is none. Again is as in try.
func (c *Client) refusal(answer *http.Response, raw []byte, r call) (again time.Duration, err error) {
	out := &Error{Status: answer.StatusCode, RequestID: answer.Header.Get("X-Request-Id"), Server: c.base.String()}
	var p api.Problem
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	ours := media == "application/problem+json" && json.Unmarshal(raw, &p) == nil && strings.TrimSpace(p.Detail) != ""
	if !ours {
		out.Err = c.foreign(answer, r)
		if answer.StatusCode >= http.StatusBadGateway && answer.StatusCode <= http.StatusGatewayTimeout && !r.once {
			return 0, out // a proxy in front of a server that restarts
		}
		return -1, out
	}
	if p.RequestID != "" {
		out.RequestID = p.RequestID
	}
	out.Fields = p.Errors
	out.Err = &api.Error{Code: p.Code, Message: p.Detail, References: p.References}
	if out.Err.Code == "" {
		out.Err.Code = api.CodeOfStatus(answer.StatusCode)
	}
	after, has := retryAfter(answer)
	out.Err.RetryAfter = int(after / time.Second)
	if has && after <= longestWait && (out.Err.Code == api.CodeTooMany || out.Err.Code == api.CodeUnavailable) {
		return after, out
	}
	return -1, out
}

func retryAfter(answer *http.Response) (time.Duration, bool) {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

// foreign is an answer that a slipway-server did not make.
func (c *Client) foreign(answer *http.Response, r call) *api.Error {
	code := api.CodeOfStatus(answer.StatusCode)
	switch {
	case answer.StatusCode < http.StatusBadRequest:
		return &api.Error{
			Code:    api.CodeInvalid,
			Message: fmt.Sprintf("server %s sends elsewhere (%.200s): use that address", c.base, answer.Header.Get("Location")),
		}
	case answer.StatusCode == http.StatusNotFound:
		return &api.Error{Code: code, Message: fmt.Sprintf("%s has no %s: it is no slipway-server, or one of another version", c.base, r.path)}
	case answer.StatusCode == http.StatusProxyAuthRequired:
		return &api.Error{Code: api.CodeUnavailable, Message: "the proxy wants credentials: put them into HTTPS_PROXY"}
	}
	return &api.Error{Code: code, Message: fmt.Sprintf("%s answers %s to %s %s, and that is not an answer of slipway-server: "+
		"look at what is in front of it",
		c.base, statusOf(answer), r.method, r.path)}
}

// statusOf is the status of an answer with the words of HTTP, not with those of what answers.
func statusOf(answer *http.Response) string {
	return strings.TrimSpace(strconv.Itoa(answer.StatusCode) + " " + http.StatusText(answer.StatusCode))
}
