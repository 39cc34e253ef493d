// Package httpapi is the REST interface of the server: one table of routes, one wrapper around all of them, and a file
// for each noun.
package httpapi
