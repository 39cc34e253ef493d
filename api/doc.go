// Package api holds what the server's REST interface says and takes: plain values with exact JSON, one file per noun,
// shared by the server, its clients and foreign code. Times are RFC 3339 in UTC. Fields are only ever added.
package api
