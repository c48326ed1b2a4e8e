#!/usr/bin/env bash
# build.sh VERSION OUT: builds the files of a release into OUT and checks them: static binaries for two architectures, the Helm
# chart, an SBOM of each binary and of the trainer's packages, the notes, and the checksums.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$1 out=$2
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clowder-ray} # as in the Makefile
chart=deploy/helm/clowder-ray
fail() { echo "release: $*" >&2 && exit 1; }

[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version $version is not of the form v1.2.3"
grep -qx "version: ${version#v}" $chart/Chart.yaml || fail "$chart/Chart.yaml has another version than $version: change it"
grep -qx "appVersion: ${version#v}" $chart/Chart.yaml || fail "$chart/Chart.yaml has another appVersion than $version: change it"

rm -rf "$out" && mkdir -p "$out"
sed -n "/^## \[${version#v}\]/,/^## \[/{/^## \[/!p}" CHANGELOG.md >"$out/NOTES.md"
grep -q '[^[:space:]]' "$out/NOTES.md" || fail "CHANGELOG.md has no section [${version#v}]: add it"

test/setup/ui.sh bundle "$cache"
for arch in amd64 arm64; do
	binary=$out/extractor-linux-$arch
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$binary" ./cmd/extractor
	readelf --program-headers "$binary" | grep -q INTERP && fail "$binary is not static"
	go tool -modfile=test/setup/tools/go.mod cyclonedx-gomod bin -json -output "$binary.cdx.json" -version "$version" "$binary"
done
[ "$(uname -m)" != x86_64 ] || [[ $("$out/extractor-linux-amd64" version) == *$version* ]] || fail "the binary tells another version"

tools=$cache/release-tools-$(sha256sum test/setup/release-tools.txt | cut -c1-12)
if [ ! -f "$tools/ready" ]; then
	rm -rf "$tools"
	python3 -m venv "$tools"
	"$tools/bin/pip" install -q --disable-pip-version-check --require-hashes -r test/setup/release-tools.txt
	touch "$tools/ready"
fi
"$tools/bin/cyclonedx-py" requirements --output-reproducible --output-file "$out/trainer.cdx.json" trainer/requirements.txt
for sbom in "$out"/*.cdx.json; do
	python3 - "$sbom" <<-'P' || fail "$sbom lists no components"
		import json, sys
		sys.exit(len(json.load(open(sys.argv[1]))["components"]) < 20)
	P
done

helm=$(CACHE=$cache test/cluster/binaries.sh helm)/helm
"$helm" package --destination "$out" $chart
for values in deploy/helm/examples/*.yaml; do
	"$helm" template check "$out/clowder-ray-${version#v}.tgz" --kube-version 1.35.0 --values "$values" >/dev/null
done

(cd "$out" && sha256sum -- * >SHA256SUMS && sha256sum --quiet --check SHA256SUMS)
ls -l "$out"
