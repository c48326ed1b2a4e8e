#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module for TIME.
set -euo pipefail
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
	for target in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -c6- | sort -u); do
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$dir"
	done
done
