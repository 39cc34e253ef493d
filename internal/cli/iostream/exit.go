package iostream

import (
	"context"
	"errors"
	"fmt"
)

// Exit codes of every command.
const (
	CodeOK          = 0
	CodeError       = 1
	CodeUsage       = 2
	CodeDiffers     = 3 // differs, not synced, or not there yet when the time was over
	CodeNotLoggedIn = 4 // no credentials, or the cluster does not accept them
)

// ExitError is an error with an exit code. Err may be nil: then the command has printed everything.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of the wrapped error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the wrapped error, which may be nil.
func (e *ExitError) Unwrap() error { return e.Err }

// Usagef returns an error about how a command was called.
func Usagef(format string, args ...any) error {
	return &ExitError{Code: CodeUsage, Err: fmt.Errorf(format, args...)}
}

// Differs returns the answer "not the same": exit code 3 and nothing more to say.
func Differs() error { return &ExitError{Code: CodeDiffers} }

// NotYetf returns an error for a state that was not reached in time.
func NotYetf(format string, args ...any) error {
	return &ExitError{Code: CodeDiffers, Err: fmt.Errorf(format, args...)}
}

// NotLoggedInf returns an error for missing or refused credentials.
func NotLoggedInf(format string, args ...any) error {
	return &ExitError{Code: CodeNotLoggedIn, Err: fmt.Errorf(format, args...)}
}

// Report says what went wrong, where there is something to say, and returns the exit code.
func (s Streams) Report(err error) int {
	if err == nil {
		return CodeOK
	}
	var exit *ExitError
	if errors.As(err, &exit) {
		if exit.Err != nil {
			s.Sayf("slipway: %v", err)
		}
		return exit.Code
	}
	if errors.Is(err, context.Canceled) {
		s.Sayf("slipway: interrupted")
		return CodeError
	}
	s.Sayf("slipway: %v", err)
	return CodeError
}
