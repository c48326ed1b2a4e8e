#!/usr/bin/env bash
# lint.sh TOOL: runs hadolint over every Dockerfile, shellcheck over every shell script, or import-linter over the trainer, or makes the site of
# the documentation with MkDocs, whose links must lead somewhere. All come from their pinned wheels.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clowder-ray} # as in the Makefile
pins=test/setup/lint-tools.txt
dir=$cache/lint-tools-$(sha256sum "$pins" | cut -c1-12)
mkdir -p "$cache"
exec 9>"$dir.lock" && flock 9 # make lint runs two linters at once
if [ ! -f "$dir/ready" ]; then
	uv=$(command -v uv || echo "$cache/tools/bin/uv") # test/setup/venv.sh installs it there
	rm -rf "$dir"
	"$uv" venv -q --python python3 "$dir"
	VIRTUAL_ENV=$dir "$uv" pip install -q --require-hashes -r "$pins"
	touch "$dir/ready"
fi
exec 9>&-
case ${1:-} in
hadolint) git ls-files '*Dockerfile' | xargs "$dir/bin/hadolint" ;;
shellcheck) git grep -lE '^#!.*sh$|^# shellcheck shell=' | xargs "$dir/bin/shellcheck" ;;
imports) PYTHONPATH=. "$dir/bin/lint-imports" trainer/importlinter.ini --no-cache >"$dir/imports.txt" || { cat "$dir/imports.txt" >&2 && exit 1; } ;;
docs) DISABLE_MKDOCS_2_WARNING=true "$dir/bin/mkdocs" build --quiet --strict ;;
*) echo "usage: lint.sh hadolint|shellcheck|imports|docs" >&2 && exit 2 ;;
esac
