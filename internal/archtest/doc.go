// Package archtest holds the repository to its own rules, those that no linter sees: what a room reaches through
// others, how packages introduce themselves, and what may stand in a file. It has only tests.
package archtest
