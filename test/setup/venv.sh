#!/usr/bin/env bash
# venv.sh DIR REQUIREMENTS: makes the Python environment of the trainer, every file checked by its hash.
set -euo pipefail
dir=$1 requirements=$2
[ -f "$dir/ready" ] && exit 0
echo "preparing the Python environment (once; about 6 GB in $(dirname "$dir"))" >&2
mkdir -p "$(dirname "$dir")"
exec 9>"$dir.lock" && flock 9 # two callers at once: the second finds it ready
[ -f "$dir/ready" ] && exit 0
rm -rf "$dir"
uv=$("$(dirname "$0")/uv.sh" "$(dirname "$dir")")
"$uv" venv -q --python python3 "$dir"
VIRTUAL_ENV=$dir "$uv" pip install -q --compile-bytecode --require-hashes -r "$requirements"
touch "$dir/ready"
