package outward

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
)

// Status is the status of an answer with the words of HTTP: not with those of the server, which writes there what it likes.
func Status(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("status %d %s", code, text)
	}
	return fmt.Sprintf("status %d", code)
}

// Reason says in words of ours why a service of others could not be used. It contains no text of the service: a user who may
// choose an address must not read what is there. Errors of the caller's own, which say no more than that, are named in own.
func Reason(err error, own ...error) string {
	for _, known := range own {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if refused := new(Refused); errors.As(err, &refused) {
		return refused.Error()
	}
	if text := ofTLS(err); text != "" {
		return text
	}
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return "there was no answer in time: check address, proxy and firewall"
	case errors.Is(err, context.Canceled):
		return "the attempt was given up"
	case errors.As(err, &dns):
		return "the name of the host is not known: check the address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused: check address and port"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the host: check address and network"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before there was an answer: check address and port"
	}
	return "what answers there is not what was expected: check the address"
}

// IsTLS reports whether an attempt ended while a secure connection was made.
func IsTLS(err error) bool { return ofTLS(err) != "" }

// IsTimeout reports whether an attempt took too long.
func IsTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err) || timeout(err)
}

// timeout finds a timeout in an error that is wrapped.
func timeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// IsBroken reports whether a connection was refused, or ended before there was an answer.
func IsBroken(err error) bool {
	for _, known := range []error{
		syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func ofTLS(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		clear     tls.RecordHeaderError
		alert     tls.AlertError
	)
	switch {
	case errors.As(err, &authority):
		return "its certificate is of an authority that is not known here: add the certificate of that authority"
	case errors.As(err, &host):
		return "its certificate is for another host: check the address"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet"
	case errors.As(err, &invalid):
		return "its certificate is not valid"
	case errors.As(err, &clear), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "what answers there does not speak TLS: check the port, or whether a proxy is in between"
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls: "):
		return "it ends the TLS connection: check the client certificate"
	}
	return ""
}
