#!/usr/bin/env bash
# lock.sh CACHE: writes the lock files of the trainer's Python packages from the .in files beside them. A pin that still fits stays
# as it is: delete its lines, or the file, to take the newest version. Each lock file adds to the one before and repeats nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
uv=$("$here/uv.sh" "$1")
cd "$here/../../trainer"
compile=("$uv" pip compile --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-find-links)
"${compile[@]}" requirements-core.in --output-file requirements-core.txt >/dev/null
extras=$(mktemp) all=$(mktemp)
trap 'rm -f "$extras" "$all"' EXIT

# extend NAME BEFORE: the lock file of NAME.in, which begins with the one of BEFORE.
extend() {
	local known=()
	grep -v '^-r ' "$2.txt" >>"$all"
	while read -r name; do known+=(--no-emit-package "$name"); done < <(grep -oE '^[a-z0-9._-]+' "$all")
	grep -v '^-r ' "$1.txt" >"$extras" # the pins of before
	"${compile[@]}" "$1.in" --constraint "$all" "${known[@]}" --output-file "$extras" >/dev/null
	{ echo "-r $2.txt" && cat "$extras"; } >"$1.txt"
}

extend requirements requirements-core
extend requirements-test requirements
