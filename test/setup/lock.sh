#!/usr/bin/env bash
# lock.sh CACHE: writes the lock files of the trainer's Python packages from the .in files beside them. A pin that still fits stays
# as it is: delete its lines, or the file, to take the newest version. The lock file of the tests adds to the other one and repeats nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
uv=$("$here/uv.sh" "$1")
cd "$here/../../trainer"
compile=("$uv" pip compile --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-find-links)
"${compile[@]}" requirements.in --output-file requirements.txt >/dev/null
known=()
while read -r name; do known+=(--no-emit-package "$name"); done < <(grep -oE '^[a-z0-9._-]+' requirements.txt)
extras=$(mktemp)
trap 'rm -f "$extras"' EXIT
grep -v '^-r ' requirements-test.txt >"$extras" # the pins of before
"${compile[@]}" requirements-test.in --constraint requirements.txt "${known[@]}" --output-file "$extras" >/dev/null
{ echo '-r requirements.txt' && cat "$extras"; } >requirements-test.txt
