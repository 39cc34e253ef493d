// Package core takes requests as far as the routes of nouns: who asks, what for, how often and with which rights, and what
// the audit is told of it. A route is a row with its permission and its audit verb; a noun brings rows.
package core
