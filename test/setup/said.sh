# shellcheck shell=bash
# Sentences of the scripts that install something, for a user whose machine lacks what they need. Sourced by them.

export OWN_FOLDER="Take a folder of your own: make TARGET CACHE=\$HOME/clowder-ray"

fail() { echo "$*" >&2 && exit 1; }

# how_packages_come: a sentence about the way to the package index, for after the message of a program that found none. A proxy is not
# shown: it may have a password.
how_packages_come() {
	if [ -n "${HTTPS_PROXY:-}${https_proxy:-}" ]; then
		echo "If it is the network: packages come through the proxy that HTTPS_PROXY names, which may be the wrong one."
	else
		echo "If it is the network: packages come without a proxy; where this machine needs one, set HTTPS_PROXY."
	fi
}

# writable FOLDER: ends the script where this user cannot write there, or cannot make it.
writable() {
	{ mkdir -p "$1" && [ -w "$1" ]; } 2>/dev/null ||
		fail "$(id -un) cannot write in $1, which may belong to another user. $OWN_FOLDER"
}

# room FOLDER MEGABYTES: ends the script where the disk of the folder has less than that.
room() {
	local free
	free=$(df --output=avail -BM "$1" | tail -1 | tr -dc 0-9)
	[ "$free" -ge "$2" ] ||
		fail "The disk of $1 has $free MB left, and $2 MB are needed. Remove something, or take another disk: make TARGET CACHE=FOLDER"
}
