#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module for TIME.
set -euo pipefail
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
	grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -c6- | sort -u | while read -r target; do
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$dir" </dev/null
	done
done
