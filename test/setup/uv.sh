#!/usr/bin/env bash
# uv.sh CACHE: prints the path of uv, and installs it in CACHE/tools where the machine has none.
set -euo pipefail
command -v uv && exit 0
# shellcheck source=test/setup/said.sh
. "$(dirname "$0")/said.sh"
tools=$1/tools
if [ ! -x "$tools/bin/uv" ]; then
	writable "$tools"
	exec 7>"$tools.lock" && flock 7 # the environments of Python and of Node are made at once
	[ ! -x "$tools/bin/uv" ] || { echo "$tools/bin/uv" && exit 0; }
	python3 -m venv "$tools" >&2 || fail "Python could not make an environment in $tools: the lines above say why."
	"$tools/bin/pip" install -q --disable-pip-version-check uv >&2 ||
		fail "uv, which installs the Python packages, could not be installed in $tools: the lines above say why."
fi
echo "$tools/bin/uv"
