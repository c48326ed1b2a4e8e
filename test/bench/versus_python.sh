#!/usr/bin/env bash
# Prints the Python of an environment with pyclowder in it, every file checked by its hash; makes it the first time.
set -euo pipefail
cd "$(dirname "$0")"
version=$(sed -n 's/^pyclowder==\([0-9.]*\).*/\1/p' versus_requirements.txt)
dir=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clowder-ray}/pyclowder-$version
if [ ! -f "$dir/ready" ]; then
	rm -rf "$dir"
	python3 -m venv "$dir"
	"$dir/bin/pip" install -q --disable-pip-version-check --require-hashes -r versus_requirements.txt >&2
	touch "$dir/ready"
fi
echo "$dir/bin/python"
