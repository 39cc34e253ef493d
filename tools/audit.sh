#!/bin/bash
# Looks for known vulnerabilities: with govulncheck, whose path is the argument, in the Go modules of the programs that are
# shipped, and with npm audit in the packages of the pages. Fails when one of them finds something. Where a database
# cannot be reached it says so, and goes on.
set -uo pipefail
cd "$(dirname "$0")/.."
result=0

# judge prints what a check wrote. $1 is its name, $2 its exit status, $3 its output, $4 what the output contains where
# the database was not reached.
judge() {
	if [ "$2" -eq 0 ]; then
		echo "$1: no known vulnerability"
	elif grep -qE "$4" <<<"$3"; then
		echo "$1: NOT CHECKED, the database of vulnerabilities cannot be reached: $(grep -E -m 1 "$4" <<<"$3")"
	else
		echo "$3"
		echo "$1: failed with status $2" >&2
		result=1
	fi
}

out=$("$1" ./cmd/slipway ./cmd/slipway-server ./cmd/slipway-agent 2>&1)
judge govulncheck $? "$out" 'fetching vulnerabilities|no such host|connection refused|dial tcp|i/o timeout'
out=$(npm audit --prefix web --omit=dev 2>&1)
judge "npm audit" $? "$out" 'audit endpoint returned an error|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN'
exit "$result"
