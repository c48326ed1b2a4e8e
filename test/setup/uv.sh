#!/usr/bin/env bash
# uv.sh CACHE: prints the path of uv, and installs it in CACHE/tools where the machine has none.
set -euo pipefail
command -v uv && exit 0
tools=$1/tools
if [ ! -x "$tools/bin/uv" ]; then
	python3 -m venv "$tools"
	"$tools/bin/pip" install -q --disable-pip-version-check uv
fi
echo "$tools/bin/uv"
