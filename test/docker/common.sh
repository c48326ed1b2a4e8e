# shellcheck shell=bash
# common.sh is sourced by the scripts of this folder: places, the engine and Compose.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clowder-ray} # as in the Makefile
export DOCKER_BUILDKIT=1                                    # docker.io 20.10 builds without it by default

# Images that the Dockerfiles and the Compose file begin with.
# shellcheck disable=SC2034 # they are used by the scripts that source this file
{
	go_image=$(sed -n 's/^ARG GO_IMAGE=//p' "$repo/Dockerfile")
	python_image=$(sed -n 's/^ARG PYTHON_IMAGE=//p' "$repo/deploy/images/ray/Dockerfile")
	rabbitmq_image=$(sed -n 's/^ *image: \(rabbitmq:.*\)/\1/p' "$repo/deploy/compose/docker-compose.yml")
}

# The engine of our own, for machines where none runs or where it pulls nothing: Debian's, with its own data and socket.
# It gets no bridge and touches no firewall: Compose makes its network, and what is published goes through its proxy.
own=$cache/docker
own_host=unix://$own/docker.sock

# alive: whether the engine of our own runs. A process id comes back after a while; the command line tells whose it is.
alive() { [ -s "$own/pid" ] && tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$own/pid")/cmdline" | grep -q -- "--data-root $own/data "; }

# use_own: makes every docker command of this shell go to the engine of our own, if that runs.
use_own() {
	alive || return 1
	export DOCKER_HOST=$own_host PATH=/usr/bin:$PATH # the client of the same version: a newer one builds with a plugin only
}
