#!/usr/bin/env bash
# pictures.sh check:            finds pictures in docs/images that are older than what they show. docs/images/sources.txt has, for each, a hash of that:
#                               the templates, style sheets and scripts of a page, the texts of a form, the code of the statuses.
# pictures.sh write PICTURE...: records that these pictures have just been made.
# Pictures of the pages of Clowder need a real Clowder, which CI has not: those that are older are named, and the check passes.
set -euo pipefail
cd "$(dirname "$0")/../.."
kept=docs/images/sources.txt
pictures=(report.png running.png 'studio/*' form-v1.png form-v2.png job.png)
declare -A of_clowder=([form-v1.png]='make e2e-clowder1' [form-v2.png]='make e2e-clowder2' [job.png]='make pictures CLOWDER_ENV=FILE')

# shown PICTURE prints what the picture shows, as far as it is in this repository.
shown() {
	case $1 in
	report.png) git ls-files internal/results/report/template | xargs sha256sum ;;
	running.png | studio/*) git ls-files internal/studio | grep -E '\.(html|css|svg|ts)$' | xargs sha256sum ;;
	form-*.png) grep -E '"(title|description)":' extractor_info.json ;;
	job.png) git ls-files internal/pipeline/status | grep -v _test | xargs sha256sum ;;
	*) echo "$0: no sources are known for docs/images/$1" >&2 && exit 1 ;;
	esac
}

# line PICTURE prints its line in sources.txt.
line() {
	local sum
	sum=$(shown "$1" | sha256sum | cut -c1-16)
	echo "$sum  $1"
}

# recorded PICTURE prints the line that sources.txt has.
recorded() { awk -v picture="$1" '$2 == picture' "$kept"; }

write() {
	local picture
	for picture in "${pictures[@]}"; do
		if [[ " $* " == *" $picture "* ]]; then line "$picture"; else recorded "$picture"; fi
	done >"$kept.new"
	mv "$kept.new" "$kept"
}

check() {
	local picture older=0
	for picture in "${pictures[@]}"; do
		[ "$(line "$picture")" != "$(recorded "$picture")" ] || continue
		if [ -n "${of_clowder[$picture]:-}" ]; then
			echo "note: docs/images/$picture is older than what it shows: ${of_clowder[$picture]}, and test/setup/pictures.sh write $picture" >&2
		else
			echo "docs/images/$picture is older than the page that it shows: make pictures" >&2
			older=1
		fi
	done
	return $older
}

case ${1:-} in
write) shift && write "$@" ;;
check) check ;;
*) echo "usage: $0 check | write PICTURE..." >&2 && exit 2 ;;
esac
