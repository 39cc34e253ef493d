package api

import (
	"errors"
	"fmt"
	"net/http"
)

// Code is the kind of an error; clients decide by it, never by the message.
type Code string

// Codes of errors.
const (
	CodeInvalid         Code = "invalid"
	CodeUnauthenticated Code = "unauthenticated"
	CodeForbidden       Code = "forbidden"
	CodeNotFound        Code = "not_found"
	// CodeConflict: the version is stale, the name is taken, or something refers to it.
	CodeConflict Code = "conflict"
	CodeTooLarge Code = "too_large"
	CodeTooMany  Code = "too_many_requests"
	// CodeUnavailable: an agent is not connected, or something else has to come back first.
	CodeUnavailable Code = "unavailable"
	CodeInternal    Code = "internal"
)

// Error is an error with a code and a message that its reader can act on. An error without a code is internal: its text
// goes to the log and not to the reader.
type Error struct {
	Code Code
	// Message says what happened, where, and what to do next.
	Message string
	// Field is the path of the input that is wrong, like "labels.team"; "" where none is.
	Field string
	// References are what stands in the way of a deletion.
	References []Ref
	// RetryAfter is in how many seconds to try again; 0 where that does not help.
	RetryAfter int
}

// Error says the message.
func (e *Error) Error() string { return e.Message }

// Errorf makes an error with a code.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the code of an error, CodeInternal where it has none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

//nolint:gochecknoglobals // a table
var statuses = map[Code]int{
	CodeInvalid:         http.StatusUnprocessableEntity,
	CodeUnauthenticated: http.StatusUnauthorized,
	CodeForbidden:       http.StatusForbidden,
	CodeNotFound:        http.StatusNotFound,
	CodeConflict:        http.StatusConflict,
	CodeTooLarge:        http.StatusRequestEntityTooLarge,
	CodeTooMany:         http.StatusTooManyRequests,
	CodeUnavailable:     http.StatusServiceUnavailable,
	CodeInternal:        http.StatusInternalServerError,
}

// Status is the HTTP status that carries a code.
func (c Code) Status() int {
	if status, ok := statuses[c]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// CodeOfStatus is the code that an HTTP status carries.
func CodeOfStatus(status int) Code {
	switch status {
	case http.StatusBadRequest, http.StatusNotAcceptable, http.StatusUnsupportedMediaType, http.StatusPreconditionFailed:
		return CodeInvalid
	case http.StatusMethodNotAllowed:
		return CodeNotFound
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return CodeUnavailable
	}
	for code, s := range statuses {
		if s == status {
			return code
		}
	}
	return CodeInternal
}

// Problem is how an error is written (RFC 9457, application/problem+json).
type Problem struct {
	Type   string `json:"type,omitempty" doc:"Always about:blank; see code" example:"about:blank"`
	Title  string `json:"title" doc:"Text of the status" example:"Conflict"`
	Status int    `json:"status" doc:"Status of the answer" example:"409"`
	Detail string `json:"detail" doc:"Description of the error, and the next step" example:"role org.acme.deployer has changed since version 3: read it again and repeat the change"`
	Code   Code   `json:"code" enum:"invalid,unauthenticated,forbidden,not_found,conflict,too_large,too_many_requests,unavailable,internal" doc:"Kind of the error, for programs" example:"conflict"`
	// RequestID is what the server's log and audit name the request by.
	RequestID string `json:"requestId,omitempty" doc:"Names the request in the server's log" example:"01J9Z6B7Y5"`
	// TraceID is that of the trace, where the request is part of one.
	TraceID    string         `json:"traceId,omitempty" doc:"Trace of the request, if any" example:"4bf92f3577b34da6a3ce929d0e0e4736"`
	Errors     []FieldProblem `json:"errors,omitempty" doc:"Errors by input field"`
	References []Ref          `json:"references,omitempty" doc:"Objects that refer to the object to delete"`
}

// FieldProblem is what is wrong with one part of the input.
type FieldProblem struct {
	Field   string `json:"field" doc:"Path of the input field" example:"body.labels.team"`
	Message string `json:"message" doc:"Error message" example:"expected string"`
}
