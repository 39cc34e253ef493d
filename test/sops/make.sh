#!/bin/sh
# Makes the files in internal/sops/testdata with the real sops and age-keygen, which it builds, and with gpg. The keys are for
# tests: they protect nothing.
set -eu
cd "$(dirname "$0")"
out=$(cd ../../internal/sops/testdata && pwd)
tmp=$(mktemp -d)
trap 'gpgconf --homedir "$tmp/gpg" --kill all; rm -rf "$tmp"' EXIT
bin=${SOPS_BIN:-$tmp}
[ -x "$bin/sops" ] || go build -o "$bin/" github.com/getsops/sops/v3/cmd/sops filippo.io/age/cmd/age-keygen
export SOPS_AGE_KEY_FILE=/dev/null GNUPGHOME="$tmp/gpg" HOME="$tmp"
mkdir -m 700 "$GNUPGHOME"

"$bin/age-keygen" -o "$tmp/one.agekey" 2>/dev/null
"$bin/age-keygen" -o "$tmp/two.agekey" 2>/dev/null
"$bin/age-keygen" -pq -o "$tmp/quantum.agekey" 2>/dev/null
gpg --batch --quiet --passphrase '' --quick-generate-key 'Slipway test <test@slipway.example>' rsa2048 default never
gpg --batch --quiet --passphrase '' --quick-add-key "$(gpg --list-keys --with-colons | awk -F: '/^fpr/{print $10; exit}')" rsa2048 encr never
gpg --batch --quiet --export-secret-keys --armor > "$tmp/key.asc"
fp=$(gpg --list-keys --with-colons | awk -F: '/^fpr/{print $10; exit}')
gpg --batch --quiet --passphrase locked --pinentry-mode loopback --quick-generate-key 'Locked <locked@slipway.example>' rsa2048 default never
gpg --batch --quiet --pinentry-mode loopback --passphrase locked --export-secret-keys --armor locked@slipway.example > "$tmp/locked.asc"
mv "$tmp"/*.agekey "$tmp"/*.asc "$out/"
one=$("$bin/age-keygen" -y "$out/one.agekey")
two=$("$bin/age-keygen" -y "$out/two.agekey")
quantum=$("$bin/age-keygen" -y "$out/quantum.agekey")

# encrypt NAME FLAGS…: plain/NAME as encrypted/NAME, and what sops makes of that again as decrypted/NAME.
mkdir -p "$out/encrypted" "$out/decrypted"
encrypt() {
	name=$1 from=$2; shift 2
	cp "$out/plain/$from" "$tmp/$name"
	(cd "$tmp" && "$bin/sops" encrypt "$@" --in-place "$name")
	cp "$tmp/$name" "$out/encrypted/$name"
	cat "$out"/*.agekey > "$tmp/all.agekey"
	(cd "$tmp" && SOPS_AGE_KEY_FILE="$tmp/all.agekey" "$bin/sops" decrypt "$name" > "$out/decrypted/$name")
}
encrypt secret.yaml secret.yaml --age "$one" --encrypted-regex '^(data|stringData)$'
encrypt whole.yaml types.yaml --age "$one,$two"
encrypt suffix.yaml suffix.yaml --age "$one"
encrypt only-suffix.yaml suffix.yaml --age "$one" --encrypted-suffix _secret
encrypt clear-regex.yaml types.yaml --age "$one" --unencrypted-regex '^(name|list)$'
encrypt several.yaml several.yaml --age "$one" --encrypted-regex '^(data|stringData)$'
encrypt pgp.yaml secret.yaml --pgp "$fp"
encrypt both.yaml secret.yaml --pgp "$fp" --age "$two"
encrypt quantum.yaml secret.yaml --age "$quantum"
encrypt types.json types.json --age "$one"
encrypt settings.env settings.env --age "$one"
encrypt pgp.env settings.env --pgp "$fp"
encrypt settings.ini settings.ini --age "$one"
encrypt notes.txt notes.txt --age "$one"
encrypt only-data.json only-data.json --age "$one"
encrypt other.yaml secret.yaml --age "$two"

# rule NAME FROM RULE: the same with what only a configuration can say.
rule() {
	printf 'creation_rules:\n  - {age: %s, %s}\n' "$one" "$3" > "$tmp/.sops.yaml"
	encrypt "$1" "$2"
}
rule comments.yaml comments.yaml "encrypted_comment_regex: '^ secret'"
rule clear-comments.yaml comments.yaml "unencrypted_comment_regex: '^ secret'"
rule mac-only.yaml secret.yaml "encrypted_regex: '^(data|stringData)$', mac_only_encrypted: true"
cat > "$tmp/.sops.yaml" <<END
creation_rules:
  - shamir_threshold: 2
    key_groups:
      - age: [$one]
      - age: [$two]
      - pgp: [$fp]
END
encrypt groups.yaml secret.yaml
rm "$tmp/.sops.yaml"
