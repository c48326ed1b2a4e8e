#!/usr/bin/env bash
# ui.sh packages CACHE: installs the npm packages of the studio's scripts into CACHE, each checked by its hash, and prints their folder.
# ui.sh bundle CACHE:   bundles the scripts into internal/studio/ui/dist, which Go embeds; does nothing where that is up to date.
# ui.sh check CACHE:    checks their types and, against the budget below, their sizes.
# ui.sh form CACHE:     installs the library that draws the forms of Clowder v1, which its page loads from the internet, and prints its folder.
# Node fetches and checks only. Nothing that it installs lies in the tree, and no script of a package runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$2
ui=internal/studio/ui
islands=(live try editor label)
declare -A budget=([live]=30000 [try]=8000 [editor]=200000 [label]=2000) # bytes after gzip, script and style together
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# node_bin: prints the folder of node and npm, those of the machine where they are new enough, else those of the pinned wheel.
node_bin() {
	if [ "$(node -p 'process.versions.node.split(".")[0] >= 20' 2>/dev/null)" = true ] && [ "$(npm --version 2>/dev/null | cut -d. -f1)" -ge 10 ] 2>/dev/null; then
		dirname "$(command -v node)"
		return
	fi
	local dir
	dir=$cache/node-$(sha256sum test/setup/node.txt | cut -c1-12)
	exec 8>"$dir.lock" && flock 8
	if [ ! -f "$dir/ready" ]; then
		local uv
		uv=$(test/setup/uv.sh "$cache")
		rm -rf "$dir"
		"$uv" venv -q --python python3 "$dir"
		VIRTUAL_ENV=$dir "$uv" pip install -q --require-hashes -r test/setup/node.txt
		touch "$dir/ready"
	fi
	echo "$dir/bin"
}

# packages: prints the folder that holds node_modules, which belongs to the lock file.
packages() {
	local dir
	dir=$cache/ui-$(cat $ui/package.json $ui/package-lock.json | sha256sum | cut -c1-12)
	mkdir -p "$cache"
	exec 9>"$dir.lock" && flock 9 # two callers at once: the second finds them ready
	if [ ! -f "$dir/ready" ]; then
		rm -rf "$dir" && mkdir -p "$dir"
		cp $ui/package.json $ui/package-lock.json "$dir"
		PATH=$(node_bin):$PATH npm --prefix "$dir" ci --ignore-scripts --no-audit --no-fund --loglevel error >&2
		touch "$dir/ready"
	fi
	echo "$dir"
}

# sources: the hash of all that decides what is bundled.
sources() {
	cat test/setup/ui.sh test/setup/tools/go.sum $ui/package-lock.json $ui/tsconfig.json $ui/src/* | sha256sum | cut -d' ' -f1
}

bundle() {
	local stamp modules made entries
	stamp=$(sources)
	[ "$(cat $ui/dist/.stamp 2>/dev/null)" != "$stamp" ] || return 0
	modules=$(packages)/node_modules
	made=$work/bundle
	entries=("${islands[@]/#/$ui/src/}")
	NODE_PATH=$modules go tool -modfile=test/setup/tools/go.mod esbuild "${entries[@]/%/.ts}" --bundle --format=esm --target=es2022 --minify --legal-comments=none --log-level=warning \
		--entry-names='[name]-[hash]' --outdir="$made"
	gzip --best --no-name "$made"/*
	rm -f $ui/dist/* && mv "$made"/* $ui/dist/
	echo "$stamp" >$ui/dist/.stamp
}

check() {
	local modules island size
	modules=$(packages)/node_modules
	ln -s "$modules" "$work/node_modules"
	ln -s "$PWD/$ui/src" "$work/src"
	cp $ui/tsconfig.json "$work"
	PATH=$(node_bin):$PATH node "$modules/typescript/bin/tsc" --project "$work"
	bundle
	for island in "${islands[@]}"; do
		size=$(cat $ui/dist/"$island"-*.gz | wc -c)
		[ "$size" -le "${budget[$island]}" ] || { echo "$ui: $island has $size bytes after gzip; its budget is ${budget[$island]}" >&2 && exit 1; }
	done
}

form() {
	local dir=$cache/jsonform-2.2.5
	if [ ! -f "$dir/ready" ]; then
		rm -rf "$dir" && mkdir -p "$dir"
		PATH=$(node_bin):$PATH npm --prefix "$dir" install --ignore-scripts --no-audit --no-fund --loglevel error jsonform@2.2.5 >&2
		sha256sum --quiet --check >&2 <<-SUMS
			8d37be58bcef81ed53c115e8d67a64ae2056c9f84143ae3916844d1b46d73cc1  $dir/node_modules/jsonform/lib/jsonform.js
			4b328e42c558197d5b99d7727cfcc60bac9763fad660651230e8baf93f6067ed  $dir/node_modules/jsonform/deps/underscore.js
		SUMS
		touch "$dir/ready"
	fi
	echo "$dir/node_modules/jsonform"
}

case ${1:-} in
packages | bundle | check | form) "$1" ;;
*) echo "usage: ui.sh packages|bundle|check|form CACHE" >&2 && exit 2 ;;
esac
