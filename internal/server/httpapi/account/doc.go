// Package account is about who asks and what they may: sessions, people, tokens, roles and bindings, and the settings of the server.
package account
