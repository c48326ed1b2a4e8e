#!/usr/bin/env bash
# python.sh DIR PART: runs venv.sh, which makes the Python environment, and says what to do where this machine lacks what that needs: a folder
# that the user may write in, room on its disk, a way to the packages.
set -euo pipefail
dir=$1 part=$2
[ ! -f "$dir/ready" ] || exit 0
[ "$part" = all ] || [ ! -f "$dir/core" ] || exit 0
# shellcheck source=test/setup/said.sh
. "$(dirname "$0")/said.sh"
cache=$(dirname "$dir")
writable "$cache"
[ ! -e "$dir.lock" ] || [ -w "$dir.lock" ] || fail "$dir.lock belongs to another user. $OWN_FOLDER"
[ -f "$dir/core" ] || room "$cache" 1500
[ "$part" = core ] || room "$cache" 6000
if [ -f "$dir/core" ]; then
	# What an installation that was killed has left half there. The locks are those of venv.sh and of a run that adds the networks.
	(flock 9 && flock 8 && "$dir/bin/python" -I "$(dirname "$0")/../../trainer/launch/halves.py" "$dir") 9>"$dir.lock" 8>"$dir/networks.lock"
fi
"$(dirname "$0")/venv.sh" "$dir" "$part" ||
	fail "The Python environment $dir is not complete: the lines above say why. $(how_packages_come) Start again: what has come is kept."
