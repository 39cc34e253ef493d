// Package account is about callers and their permissions: sessions, people, tokens, roles and bindings, and the settings of the
// server.
package account
