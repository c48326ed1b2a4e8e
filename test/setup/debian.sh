#!/usr/bin/env bash
# debian.sh [core|browser]: installs the Debian packages that the tests and the demo need and that are missing. Asks for root only if there
# are some. "core" is what the demo needs; "browser" has the headless shell of Chromium, too, for the tests and the pictures of the pages.
set -euo pipefail
missing=()
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || missing+=(rabbitmq-server)
command -v curl >/dev/null || missing+=(curl)
command -v bwrap >/dev/null || missing+=(bubblewrap) # runsc is optional: without it the tests in gVisor are skipped
if [ "${1:-}" != core ]; then
	[ -x /usr/sbin/nginx ] || missing+=(nginx-light) # the test of the studio behind a proxy; it needs the program only
	command -v gcc >/dev/null || missing+=(gcc libc6-dev) # go test -race
fi
command -v uv >/dev/null || python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if [ "${1:-}" = browser ]; then
	for name in chromium-headless-shell headless_shell headless-shell google-chrome chrome; do command -v "$name" >/dev/null && found=$name; done
	[ -n "${found:-}" ] || missing+=(chromium-headless-shell)
fi
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing ${missing[*]}" >&2
# shellcheck source=test/setup/said.sh
. "$(dirname "$0")/said.sh"
command -v apt-get >/dev/null || fail "${missing[*]}: missing, and this is not Debian. Install them with this machine's own package manager, and start again."
sudo=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || fail "${missing[*]}: missing, and there is no sudo. Let root run: apt-get install ${missing[*]}"
	sudo=(sudo)
fi
if ! "${sudo[@]}" apt-get update -qq ||
	! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
	fail "apt-get could not install ${missing[*]}: the lines above say why. When that is repaired, start again, or let root run: apt-get install ${missing[*]}"
fi
