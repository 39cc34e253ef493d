package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestABodyThatOthersCouldReadAsAnotherIsRefused says of a body in plain UTF-8 that it is packed, or in other letters. Bob may
// not sync, so a body that is read ends with 403.
func TestABodyThatOthersCouldReadAsAnotherIsRefused(t *testing.T) {
	t.Parallel()
	_, server := serve(t, nil)
	for header, want := range map[string]int{
		"Content-Encoding: gzip":                                 http.StatusUnprocessableEntity,
		"Content-Encoding: br":                                   http.StatusUnprocessableEntity,
		"Content-Encoding: identity, gzip":                       http.StatusUnprocessableEntity,
		"Content-Encoding: Identity":                             http.StatusForbidden,
		"Content-Type: application/json; charset=utf-16":         http.StatusUnprocessableEntity,
		"Content-Type: application/json; charset=\"iso-8859-1\"": http.StatusUnprocessableEntity,
		"Content-Type: application/json; charset=UTF-8":          http.StatusForbidden,
		"Content-Type: application/json":                         http.StatusForbidden,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+app+"/sync", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer bob")
		r.Header.Set("Content-Type", "application/json")
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s is answered %d, want %d", header, answer.StatusCode, want)
		}
	}
}
