// Package core takes requests as far as the routes of nouns: the caller, the request, rates and rights, and the audit
// entry. A route is a row with its permission and its audit verb; a noun brings rows.
package core
