#!/usr/bin/env bash
# venv.sh DIR PART: makes the Python environment of the trainer, every file checked by its hash. PART is core, which trains everything
# but networks (a run that needs one adds what is missing), or all, with networks and what the tests need.
set -euo pipefail
dir=$1 part=$2
trainer=$(cd "$(dirname "$0")/../../trainer" && pwd)
[ ! -f "$dir/ready" ] || exit 0
[ "$part" = all ] || [ ! -f "$dir/core" ] || exit 0
mkdir -p "$(dirname "$dir")"
exec 9>"$dir.lock" && flock 9 # two callers at once: the second finds it ready
uv=$("$(dirname "$0")/uv.sh" "$(dirname "$dir")")
install() { VIRTUAL_ENV=$dir "$uv" pip install -q --compile-bytecode --require-hashes -r "$1"; }

if [ ! -f "$dir/core" ]; then
	echo "preparing the Python environment (once; 0.4 GB to download, 1.2 GB in $(dirname "$dir"))" >&2
	rm -rf "$dir"
	"$uv" venv -q --python python3 "$dir"
	install "$trainer/requirements-core.txt"
	grep -v '^-r ' "$trainer/requirements.txt" >"$dir/networks.txt"
	touch "$dir/core"
fi
if [ "$part" = all ] && [ ! -f "$dir/ready" ]; then
	echo "adding networks and the tools of the tests to it (once; 3.3 GB to download, 5.5 GB)" >&2
	exec 8>"$dir/networks.lock" && flock 8 # a run may be adding the networks
	install "$trainer/requirements-test.txt"
	touch "$dir/networks" "$dir/ready"
fi
