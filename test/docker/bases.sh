#!/usr/bin/env bash
# bases.sh: makes stand-ins for the base images in the engine of our own, under the names that the Dockerfiles and the Compose
# file use: a Debian made by debootstrap, with its Python, its RabbitMQ and the Go of this machine.
. "$(dirname "$0")/common.sh"
use_own
root_image=clowder-ray/debian:bookworm

debian() {
	root=$(mktemp -d "$own/root-XXXXXX")
	trap 'rm -rf "$root"' EXIT
	local packages=ca-certificates,netcat-openbsd,libpython3-dev,python3,python3-pip,python3-venv,rabbitmq-server
	debootstrap --variant=minbase --include="$packages" bookworm "$root" >"$own/debootstrap.log"
	# So that downloads in a build work wherever they work on this machine.
	cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
	tar -C "$root" --exclude=./var/cache/apt/archives/*.deb --exclude=./var/lib/apt/lists/* -c . | docker import - "$root_image"
}

# stand_in TARGET NAME CONTEXT
stand_in() {
	docker build -q --network host --build-arg ROOT="$root_image" --target "$1" -t "$2" -f "$here/bases.Dockerfile" "$3"
}

echo "no base image can be pulled: making stand-ins from Debian's packages (once)" >&2
{
	debian
	stand_in golang "$go_image" "$(go env GOROOT)"
	stand_in python "$python_image" "$here"
	stand_in packages clowder-ray/packages:stand-in "$here"
	stand_in rabbitmq "$rabbitmq_image" "$here"
} >&2
