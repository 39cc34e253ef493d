#!/bin/sh
# Builds devcluster at the path $1 unless the one there was built from the same
# files by the same Go. A stamp beside the binary holds the hash of both.
set -eu

kubernetes=v1.36.3

# The path is relative to where the caller is.
case $1 in
/*) out=$1 ;;
*) out=$PWD/$1 ;;
esac
stamp=$out.stamp
cd "$(dirname "$0")"

hash=$({
	go version
	find . -type f \( -name '*.go' -o -name '*.yaml' -o -name 'go.mod' -o -name 'go.sum' -o -name 'build.sh' \) \
		! -name '*_test.go' -exec cksum {} + | LC_ALL=C sort
} | git hash-object --stdin)

if [ -x "$out" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$hash" ]; then
	exit 0
fi

mkdir -p "$(dirname "$out")"
echo "devcluster: building (Kubernetes $kubernetes; the first build takes some minutes)" >&2

minor=${kubernetes#v1.}
minor=${minor%%.*}
flags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	flags="$flags -X $package.gitVersion=$kubernetes -X $package.gitMajor=1 -X $package.gitMinor=$minor"
	flags="$flags -X $package.gitTreeState=clean"
done

new=$out.new.$$
list=$out.packages.$$
trap 'rm -f "$new" "$list"' EXIT
trap 'exit 130' INT TERM

# -v names each package as it is compiled: the count of them is the progress.
go build -v -trimpath -ldflags "$flags" -o "$new" ./cmd/devcluster 2>"$list" &
build=$!
seconds=0
while kill -0 "$build" 2>/dev/null; do
	sleep 1
	seconds=$((seconds + 1))
	if [ $((seconds % 15)) -eq 0 ]; then
		echo "devcluster: ${seconds} s, $(wc -l <"$list" | tr -d ' ') packages compiled, now $(tail -n 1 "$list")" >&2
	fi
done
if ! wait "$build"; then
	cat "$list" >&2
	exit 1
fi
# In one step, so that nobody starts half a binary.
mv "$new" "$out"
echo "$hash" >"$stamp"
echo "devcluster: built $out in ${seconds} s" >&2
