// Package httpapi is the REST interface of the server, put together: one table of routes, and one wrapper around all of them. The
// packages below have a file for each noun.
package httpapi
