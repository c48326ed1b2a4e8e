#!/usr/bin/env bash
# pictures.sh write|check: docs/images/sources.txt has, for each picture that make pictures makes, a hash of the templates, style sheets and scripts of
# the page that it shows. write is for make pictures alone; check finds
# pictures that are older than their page.
set -euo pipefail
cd "$(dirname "$0")/../.."
kept=docs/images/sources.txt

# sources PICTURE lists the files that make the page of the picture.
sources() {
	case $1 in
	report.png) git ls-files internal/results/report/template ;;
	running.png | studio/*) git ls-files internal/studio | grep -E '\.(html|css|svg|ts)$' ;;
	*) echo "$0: no sources are known for docs/images/$1" >&2 && exit 1 ;;
	esac
}

hashes() {
	local picture
	for picture in report.png running.png 'studio/*'; do
		echo "$(sources "$picture" | xargs sha256sum | sha256sum | cut -c1-16)  $picture"
	done
}

case ${1:-} in
write) hashes >"$kept" ;;
check)
	older=$(hashes | grep -vxFf "$kept" | cut -d' ' -f3) || exit 0
	while read -r picture; do
		echo "docs/images/$picture is older than the page that it shows: make pictures" >&2
	done <<<"$older"
	exit 1
	;;
*) echo "usage: $0 write|check" >&2 && exit 2 ;;
esac
