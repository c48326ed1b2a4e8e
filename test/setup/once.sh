#!/usr/bin/env bash
# once.sh PASSED INPUT... -- COMMAND...: runs tests, unless they have passed before with the same command and the same content of the inputs,
# which are files and folders. The folder PASSED has the last line of each run that passed. FRESH=1 runs them in any case.
set -euo pipefail
passed=$1
shift
inputs=()
while [ "$1" != -- ]; do
	inputs+=("$1")
	shift
done
shift

key() {
	{
		printf '%s\n' "$@"
		find "${inputs[@]}" \( -name __pycache__ -o -name '.?*' \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
	} | sha256sum | cut -c1-16
}

before=$(key "$@")
if [ -z "${FRESH:-}" ] && [ -f "$passed/$before" ]; then
	echo "$(cat "$passed/$before") (earlier; nothing that these tests read has changed since. FRESH=1 runs them again)"
	exit
fi
mkdir -p "$passed"
printed=$(mktemp "$passed/.printed.XXXXXX")
trap 'rm -f "$printed"' EXIT
"$@" | tee "$printed"
if [ "$(key "$@")" = "$before" ]; then # otherwise nobody knows what was tested
	tail -n 1 "$printed" >"$printed.last"
	mv "$printed.last" "$passed/$before"
fi
